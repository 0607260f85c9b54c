"""Make a model by its recipe: python models/build.py models/en-minilm.toml

Segmenter, tagger and lemmatizer learn from train and dev (how they learn was settled on dev before); the parser learns
from train, with tags and lemmas by cross-validation if it does not find tags itself, and its best epoch and its
temperatures are those of dev. Scores and speed on test go into the header: they are those of the model as it is read
from its file, with one thread and in a process that knows the words of dev. The result is
src/crossarc/models/builtin/NAME.crossarc or packages/crossarc-NAME, as the recipe says. That takes from ten minutes (a
linear parser) to some hours (a neural one).
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from multiprocessing import get_context
from pathlib import Path
from typing import Any, NamedTuple

from recipe import Recipe, read_recipe

from crossarc import CrossarcError, Sentence, read
from crossarc.models import read_model, write_model
from crossarc.parsers import Parser, SpanningTreeParser, train
from crossarc.parsers import load as load_parser
from crossarc.parsers.progress import ProgressLines
from crossarc.parsers.training import checksum, dev_scores, with_treebank_defaults
from crossarc.pipeline import Annotated, Pipeline, load, scores_of, train_components, words_per_second
from crossarc.pipeline.packaging import write_package
from crossarc.text import raw_text

PROJECT = Path(__file__).resolve().parents[1]
BUILTIN = PROJECT / "src" / "crossarc" / "models" / "builtin"
PACKAGES = PROJECT / "packages"
TREEBANKS = PROJECT.parent / "shared" / "treebanks"
ONE_THREAD = dict.fromkeys(["OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"], "1")


class Parts(NamedTuple):
    """The parts of a treebank."""

    train: list[Sentence]
    dev: list[Sentence]
    test: list[Sentence]


class Lines(ProgressLines):
    """A line for each epoch. A model is not shipped as it was when somebody interrupted its training."""

    def interrupted(self, stage: str, epoch: int) -> None:
        raise KeyboardInterrupt


def main() -> None:
    options = _options()
    try:
        if options.output is None and (options.sentences or options.epochs):
            raise CrossarcError("a model by less than its recipe is not to be shipped: --output says where it goes")
        recipe = read_recipe(options.recipe, epochs=options.epochs)
        folder = options.treebank or TREEBANKS / recipe.folder
        print(make(recipe, folder, options.output, options.sentences, resume=options.resume, parser=options.parser))
    except CrossarcError as error:
        sys.exit(f"build.py: error: {error}")
    except KeyboardInterrupt:
        print("build.py: interrupted: the same command with --resume goes on after the last epoch", file=sys.stderr)
        sys.exit(130)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("recipe", type=Path)
    parser.add_argument("treebank", type=Path, nargs="?", help="another folder than that of the recipe")
    parser.add_argument("--output", type=Path, help="another folder than that of the built-in models, or packages")
    parser.add_argument("--sentences", type=int, help="take so many sentences of train, dev and test: to try it out")
    parser.add_argument("--epochs", type=int, help="another number of epochs: to try it out")
    parser.add_argument("--resume", action="store_true", help="go on with a training that was interrupted")
    parser.add_argument("--parser", type=Path, help="a parser with the configuration of the recipe, trained before")
    return parser.parse_args()


def make(
    recipe: Recipe,
    treebank: Path,
    output: Path | None,
    sentences: int | None,
    *,
    resume: bool = False,
    parser: Path | None = None,
) -> str:
    """Train the model, measure it and write it to where it belongs; what has become of it."""
    annotated = annotate(recipe, parts_of(treebank, sentences))
    checkpoint = (output or Path(__file__).parent) / f"{recipe.name}.training"
    checkpoint.parent.mkdir(parents=True, exist_ok=True)
    if parser is None:
        trained = trained_parser(recipe, annotated, checkpoint, resume)
    else:
        trained = parser_from(parser, recipe, annotated)
    with tempfile.TemporaryDirectory() as folder:
        draft = Path(folder) / "draft"
        Pipeline(trained, **annotated.components, about=recipe.about, quantized=recipe.quantize).save(draft)
        measured = measured_alone(draft, treebank, sentences)
        file = written(recipe, draft, output, measured)
    checkpoint.unlink(missing_ok=True)
    return f"{file}: {file.stat().st_size / 1e6:.1f} MB\n{measured}"


def parts_of(folder: Path, sentences: int | None) -> Parts:
    """The parts of a treebank, or the first sentences of each."""
    return Parts(*(list(read(folder / f"{part}.conllu", trees=True))[:sentences] for part in Parts._fields))


def annotate(recipe: Recipe, parts: Parts) -> Annotated:
    """The components before the parser, from train and dev; both with tags and lemmas as the parser is to see them."""
    config = recipe.config
    seed, finds_tags = getattr(config, "seed", 1), config.finds_tags
    annotated = train_components([*parts.train, *parts.dev], recipe.components, seed=seed, parser_tags=finds_tags)
    trees, n_train = annotated.treebank, len(parts.train)
    return annotated._replace(treebank=trees[:n_train], dev=trees[n_train:])


def trained_parser(recipe: Recipe, annotated: Annotated, checkpoint: Path, resume: bool) -> Parser:
    """The parser, with the search that it is to have later; what it knows of dev is by that search."""
    config, dev = recipe.config, annotated.dev
    parser = train(annotated.treebank, config, dev=dev, listener=Lines(config), checkpoint=checkpoint, resume=resume)
    if not recipe.search:
        return parser
    if not isinstance(parser, SpanningTreeParser):
        raise CrossarcError("[search] is for spanning-tree parsers")
    narrower = replace(parser.config, **recipe.search)
    parser = replace(parser, config=narrower, scorer=replace(parser.scorer, options=narrower.scorer))
    parser = replace(parser, dev=dev_scores(dev, parser.trees(dev))).calibrated(dev)
    print(f"with its own search: {parser.dev}", flush=True)
    return parser


def parser_from(file: Path, recipe: Recipe, annotated: Annotated) -> Parser:
    """The parser of a model; an error if it was not trained by the recipe, from the same trees."""
    parser: Parser = load_parser(file)
    expected = replace(with_treebank_defaults(annotated.treebank, recipe.config), **recipe.search)
    if parser.config != expected:
        raise CrossarcError(f"{file}: trained with {parser.config}, where the recipe has {expected}")
    if parser.treebank != checksum(annotated.treebank):
        raise CrossarcError(f"{file}: trained on another treebank")
    return parser


def measured_alone(model: Path, treebank: Path, sentences: int | None) -> dict[str, Any]:
    """What ``measure`` finds in a process that has one thread and knows no word yet."""
    os.environ.update(ONE_THREAD)
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as workers:
        return workers.submit(measure, model, treebank, sentences).result()


def measure(model: Path, treebank: Path, sentences: int | None) -> dict[str, Any]:
    """Scores on test, and words a second there when the words of dev are known."""
    pipeline, parts = load(model), parts_of(treebank, sentences)
    if pipeline.segmenter is not None:
        pipeline(raw_text(parts.dev))
    speed = words_per_second(pipeline, parts.test)
    return {"scores": scores_of(pipeline, parts.test), "words_per_second": float(f"{speed:.2g}")}


def written(recipe: Recipe, draft: Path, output: Path | None, measured: dict[str, Any]) -> Path:
    """The file of the finished model."""
    if recipe.target == "package":
        folder = (output or PACKAGES) / recipe.package.distribution
        return write_package(draft, folder, recipe.package, about=measured)
    model, file = read_model(draft), (output or BUILTIN) / f"{recipe.name}.crossarc"
    write_model(file, model.components, about={**model.about, **measured}, quantize=model.quantized)
    return file


if __name__ == "__main__":
    main()
