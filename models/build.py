"""Make a built-in model by its recipe: python models/build.py models/english-ewt.toml ../shared/treebanks/English-EWT

The folder has train.conllu, dev.conllu and test.conllu. Segmenter, tagger and lemmatiser learn from train and dev (how
they learn was settled on dev before); the parser learns from train, with tags and lemmas by cross-validation, and its
best epoch and its temperatures are those of dev; its search is then made narrower ([search] in the recipe). Scores on
test go into the header. It takes ten minutes to an hour.
"""

from __future__ import annotations

import argparse
import tomllib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from crossarc import Sentence, read
from crossarc.parsers import EpochReport, SpanningTreeConfig, TrainingListener, train
from crossarc.parsers.spanning_tree.parser import SpanningTreeParser
from crossarc.parsers.training import dev_scores
from crossarc.pipeline import Annotated, Pipeline, load, scores_of, train_components

BUILTIN = Path(__file__).parents[1] / "src" / "crossarc" / "models" / "builtin"
ABOUT = ("language", "treebank", "licence", "attribution")


class Lines(TrainingListener):
    """A line for each epoch."""

    def end_epoch(self, report: EpochReport) -> None:
        print(report, flush=True)

    def pruned(self, candidates: float, recall: float) -> None:
        print(f"pruner: {candidates:.1f} heads a word, the right one among them for {100 * recall:.2f} %", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("recipe", type=Path)
    parser.add_argument("treebank", type=Path, help="a folder")
    options = parser.parse_args()
    recipe = tomllib.loads(options.recipe.read_text(encoding="utf-8"))
    treebank, dev, test = (
        list(read(options.treebank / f"{part}.conllu", trees=True)) for part in ("train", "dev", "test")
    )
    annotated = annotate(recipe, treebank, dev)
    pipeline = finished(recipe, annotated, trained_parser(recipe, annotated), test)
    target = BUILTIN / f"{recipe['name']}.crossarc"
    pipeline.save(target)
    print(f"{target}: {target.stat().st_size / 1e6:.1f} MB")
    print(pipeline.about["scores"])


def annotate(recipe: dict[str, Any], treebank: Sequence[Sentence], dev: Sequence[Sentence]) -> Annotated:
    """The components before the parser, from train and dev, and both with tags and lemmas by cross-validation."""
    annotated = train_components([*treebank, *dev], recipe["components"], seed=recipe["parser"]["seed"])
    trees = annotated.treebank
    return annotated._replace(treebank=trees[: len(treebank)], dev=trees[len(treebank) :])


def trained_parser(recipe: dict[str, Any], annotated: Annotated) -> SpanningTreeParser:
    """The parser, with the search that it is to have later; what it knows of dev is by that search."""
    config, dev = SpanningTreeConfig(**recipe["parser"]), annotated.dev
    parser = train(annotated.treebank, config, dev=dev, listener=Lines())
    assert isinstance(parser, SpanningTreeParser)
    narrower = replace(parser.config, **recipe["search"])
    parser = replace(parser, config=narrower, scorer=replace(parser.scorer, options=narrower.scorer))
    parser = replace(parser, dev=dev_scores(dev, parser.trees(dev))).calibrated(dev)
    print(f"with its own search: {parser.dev}", flush=True)
    return parser


def finished(
    recipe: dict[str, Any], annotated: Annotated, parser: SpanningTreeParser, test: Sequence[Sentence]
) -> Pipeline:
    """The model as it will be read from its file, with its scores."""
    pipeline = Pipeline(parser, **annotated.components, name=recipe["name"], quantized=True)
    pipeline.save(draft := BUILTIN / "draft")
    try:
        scores = scores_of(load(draft), test)
    finally:
        draft.unlink()
    about = {name: recipe[name] for name in ABOUT}
    return replace(pipeline, about={**about, "scores": scores})


if __name__ == "__main__":
    main()
