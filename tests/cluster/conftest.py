from __future__ import annotations

import subprocess
from collections.abc import Iterator

import pytest

from cluster_corpus import Corpus
from cluster_programs import ENVIRONMENT, command_of


@pytest.fixture(scope="session")
def corpus(tmp_path_factory) -> Corpus:
    return Corpus(tmp_path_factory.mktemp("corpus"))


@pytest.fixture
def nodes() -> Iterator[str]:
    """The address of a Ray cluster of a head and three nodes with a core each."""
    pytest.importorskip("ray", reason="Ray is not installed: pip install '.[cluster]'")
    command = command_of("cluster_ray_nodes.py", 3)
    with subprocess.Popen(
        command, env=ENVIRONMENT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdin is not None
        lines = iter(process.stdout.readline, "")
        address = next((line.strip() for line in lines if line.count(":") == 1 and line.strip()[-1].isdigit()), None)
        if address is None:
            pytest.skip("Ray did not start in time: the machine is too busy")
        yield address
        process.stdin.close()
