from __future__ import annotations

import pytest

from cluster_corpus import Corpus


@pytest.fixture(scope="session")
def corpus(tmp_path_factory) -> Corpus:
    return Corpus(tmp_path_factory.mktemp("corpus"))
