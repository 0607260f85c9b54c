from __future__ import annotations

import pytest

import crossarc
from commands import run
from crossarc.testing import random_treebank


@pytest.fixture(scope="session")
def trained(tmp_path_factory):
    """A small model, the treebank it was trained on, and what training said."""
    folder = tmp_path_factory.mktemp("trained")
    treebank, model = folder / "train.conllu", folder / "my.crossarc"
    crossarc.write(random_treebank(150, seed=3, nonprojectivity=0.3), treebank)
    result = run("train", treebank, "--dev", treebank, "-m", model, "--order", 1, "--epochs", 2, "--hash-bits", 16)
    assert result.returncode == 0, result.stderr.decode()
    return treebank, model, result.stderr.decode()
