"""crossarc crossval"""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import click
import numpy as np

from crossarc.cli.common import FILES, json_option, print_json, print_table, read_trees
from crossarc.cli.messages import log
from crossarc.cli.train import SystemCommand, config_of, system_option
from crossarc.core import Sentence
from crossarc.evaluation.evaluate import OFFICIAL, Evaluation, evaluate_blocks
from crossarc.evaluation.score import Score
from crossarc.evaluation.significance import Interval, bootstrap_f1
from crossarc.io import write
from crossarc.io.lock import only_writer
from crossarc.parsers.folds import folds_of
from crossarc.parsers.registry import SYSTEMS
from crossarc.pipeline.cross_validation import Source, cross_parsed

_FULL = "LAS, full labels"
_SHOWN: dict[str, list[str]] = {
    "gold": ["UAS", "LAS", _FULL, "CLAS"],
    "words": ["UPOS", "XPOS", "UFeats", "Lemmas", "UAS", "LAS", _FULL, "CLAS", "MLAS", "BLEX"],
    "text": [*OFFICIAL[:-3], _FULL, *OFFICIAL[-3:]],
}
_SEED = 1  # of the samples that intervals are made of


@click.command("crossval", cls=SystemCommand)
@click.argument("treebanks", metavar="TREEBANK...", type=FILES, nargs=-1, required=True)
@click.option("--folds", type=click.IntRange(2), default=10, show_default=True, help="How many parts there are.")
@click.option(
    "--from",
    "source",
    type=click.Choice(["gold", "words", "text"]),
    default="gold",
    show_default=True,
    help="What the parser starts from: gold words and tags; gold words, with a tagger and a lemmatizer, which are "
    "trained as well; or raw text, with a segmenter too.",
)
@system_option
@click.option(
    "-o", "--output", type=FILES, help="Write the trees that were found, of the whole treebank, to this file."
)
@click.option("--jobs", type=click.IntRange(1), default=1, show_default=True, help="Folds that are done side by side.")
@json_option
def command(
    treebanks: tuple[str, ...],
    folds: int,
    source: Source,
    system: str,
    output: str | None,
    jobs: int,
    as_json: bool,
    preset: str | None = None,
    **options: Any,
) -> None:
    """How good a parser of TREEBANK is: trained on all parts of it but one, and tested on that one, in turn.

    Parts are runs of consecutive sentences. Scores are F1 over all sentences together, each of which was
    parsed by a model that had not seen it; LAS, CLAS, MLAS and BLEX count labels up to the colon. The interval (95 %)
    says how much depends on which sentences these are (bootstrap over sentences); lowest and highest are those of a
    part.
    """
    given = {name: value for name, value in options.items() if value is not None}
    config = config_of(SYSTEMS[system], preset, given, dev=False)
    if output not in (None, "-"):  # found out before any work
        click.get_current_context().with_resource(only_writer(Path(output)))
    gold = [tree for path in treebanks for tree in read_trees(path)]
    evaluations: list[list[Evaluation]] = []
    found: list[Sentence] = []
    start = time.monotonic()
    parsed = cross_parsed(gold, config, folds, source=source, jobs=jobs)
    for part, sentences in zip(folds_of(len(gold), folds), parsed, strict=True):
        evaluations.append(list(evaluate_blocks([gold[i] for i in part], sentences)))
        found += sentences
        log.info("fold %d of %d: LAS %.2f", len(evaluations), folds, 100 * _f1(_counts(evaluations[-1], [_FULL]))[0])
    log.debug("%.0f s for %d folds", time.monotonic() - start, folds)
    if output:
        write(found, output)
    rows = _results(evaluations, _SHOWN[source])
    if as_json:
        print_json({"folds": folds, "from": source, "sentences": len(gold), "scores": [row.as_dict() for row in rows]})
    else:
        print_table(
            [[row.name, row.score, "[{:.2f}, {:.2f}]".format(*row.interval), row.lowest, row.highest] for row in rows],
            header=["", "F1", "95 % interval", "lowest", "highest"],
        )


class _Result(NamedTuple):
    """A score, in per cent."""

    name: str
    score: float
    interval: Interval
    lowest: float  # of a fold
    highest: float
    folds: list[float]

    def as_dict(self) -> dict[str, Any]:
        return {"name": self.name, "f1": self.score, "interval": list(self.interval), "folds": self.folds}


def _results(evaluations: Sequence[Sequence[Evaluation]], names: Sequence[str]) -> list[_Result]:
    counts = [_counts(own, names) for own in evaluations]
    everything = np.concatenate(counts)
    intervals = bootstrap_f1(everything, rng=np.random.default_rng(_SEED))
    folds = np.array([_f1(own) for own in counts])
    return [
        _Result(name, 100 * float(score), Interval(100 * low, 100 * high), min(own), max(own), own)
        for name, score, (low, high), own in zip(
            names, _f1(everything), intervals, (100 * folds.T).tolist(), strict=True
        )
    ]


def _counts(evaluations: Sequence[Evaluation], names: Sequence[str]) -> np.ndarray[Any, np.dtype[np.float64]]:
    """[block, score, 3]: gold, system, correct."""
    scores = [[_score(own, name) for name in names] for own in evaluations]
    return np.array([[(s.gold, s.system, s.correct) for s in row] for row in scores], dtype=np.float64)


def _score(evaluation: Evaluation, name: str) -> Score:
    return evaluation.all_words.las if name == _FULL else evaluation.official[name]


def _f1(counts: np.ndarray[Any, np.dtype[np.float64]]) -> list[float]:
    gold, system, correct = counts.sum(axis=0).T
    return (2 * correct / np.maximum(gold + system, 1)).tolist()  # type: ignore[no-any-return]
