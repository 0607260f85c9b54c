from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("fastapi")

from crossarc.pipeline import Pipeline, train_components
from trained import DEV, TRAIN, trained


@pytest.fixture(scope="session")
def model_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A first-order parser that knows probabilities."""
    path = tmp_path_factory.mktemp("server") / "random-order-1.crossarc"
    trained("order 1").save(path)
    return path


@pytest.fixture(scope="session")
def text_model_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same parser, with all that it takes to read raw text."""
    path = tmp_path_factory.mktemp("server") / "random-text.crossarc"
    annotated = train_components(TRAIN, ["segmenter", "tagger", "lemmatizer"], dev=DEV)
    about = {"attribution": "The makers of random trees", "licence": "CC0"}
    Pipeline(trained("order 1"), **annotated.components, about=about).save(path)
    return path
