"""What the tables of papers are made of: a parser is trained on a treebank, parses the test set, and is scored.

Used by papers.py and by the module of each paper. Everything is kept in a file as soon as it is known (kept.py).
"""

from __future__ import annotations

import base64
import datetime
import time
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import crossarc
from crossarc import Sentence
from crossarc.evaluation import evaluate
from crossarc.evaluation.graphs import tree_as_graph
from crossarc.evaluation.significance import mcnemar
from crossarc.parsers import ParseOptions, train
from crossarc.parsers.config import Config
from crossarc.trees import is_projective
from environment import commit
from pruned import Pruned

Figures = dict[str, Any]
Work = dict[str, tuple[Callable[..., Figures], *tuple[Any, ...]]]

PLAIN = (("", ParseOptions()),)


class Sample(NamedTuple):
    """What is trained and tested on."""

    folder: Path  # of the treebanks
    sentences: int | None = None  # of each part; None for all
    seeds: int = 1
    epochs: int | None = None  # None: as the configuration says


class Run(NamedTuple):
    """A parser on a treebank."""

    treebank: str
    system: str  # as tables call it
    config: Config
    parses: tuple[tuple[str, ParseOptions], ...] = PLAIN  # ways to parse the test set, by name
    wrapped: tuple[tuple[str, str], ...] = ()  # further arguments of training: pseudo_projective, stack
    projective: bool = False  # whether only sentences without crossing arcs are learnt from and parsed
    graphs: bool = False  # whether the arcs of DEPS are scored, too

    @property
    def name(self) -> str:
        return f"{self.treebank}, {self.system}"


def work_of(runs: Iterable[Run], sample: Sample) -> Work:
    """The runs with each seed, by name."""
    found: Work = {}
    for run in runs:
        for seed in range(1, sample.seeds + 1):
            found[run.name + (f", seed {seed}" if seed > 1 else "")] = (figures, run, sample, seed)
    return found


def figures(run: Run, sample: Sample, seed: int) -> Figures:
    """Train, parse the test set in every way that is asked for, score."""
    parts = {part: read(sample, run, part) for part in ("train", "dev", "test")}
    changes: dict[str, Any] = {"seed": seed} | ({"epochs": sample.epochs} if sample.epochs else {})
    config: Any = replace(run.config, **changes)  # type: ignore[type-var]
    listener, wrapped = Pruned(), dict[str, Any](run.wrapped)
    train(parts["train"][:5], replace(config, epochs=1), dev=parts["dev"][:5], **wrapped)  # compiles what is not yet
    start = time.process_time()
    parser = train(parts["train"], config, dev=parts["dev"], listener=listener, **wrapped)
    seconds = time.process_time() - start
    return {
        "train_sentences": len(parts["train"]),
        "test_sentences": len(parts["test"]),
        "training_seconds": round(seconds, 1),
        "pruner": [round(listener.candidates, 2), round(100 * listener.recall, 2)],
        "parses": {name: parsed(parser, parts["test"], options, run.graphs) for name, options in run.parses},
        "date": datetime.date.today().isoformat(),
        "commit": commit(),
    }


def read(sample: Sample, run: Run, part: str) -> list[Sentence]:
    sentences = list(crossarc.read(sample.folder / run.treebank / f"{part}.conllu", trees=True))
    if run.projective:
        sentences = [sentence for sentence in sentences if is_projective(sentence.heads)]
    return sentences[: sample.sentences]


def parsed(parser: Any, test: list[Sentence], options: ParseOptions, graphs: bool) -> Figures:
    bare = [without_graph(sentence) for sentence in test]
    list(parser.parse(bare[:3], options))  # compiles what is not compiled yet
    start = time.process_time()
    found = list(parser.parse(bare, options))
    seconds = time.process_time() - start
    statuses = Counter((one.status or "").partition(" (")[0] for one in found)
    return {
        **scores(test, [one.sentence for one in found]),
        **({"graph": graph_scores(test, [one.sentence for one in found])} if graphs else {}),
        "seconds": round(seconds, 3),
        "statuses": {status: number for status, number in statuses.items() if status},
    }


def scores(gold: Sequence[Sentence], found: Sequence[Sentence]) -> Figures:
    """Attachment scores with and without punctuation, complete trees; of all sentences (a), of those that cross (b)."""
    right = [np.array([a == b for a, b in zip(g.head, f.head, strict=True)]) for g, f in zip(gold, found, strict=True)]
    labels = [
        np.array([a == b for a, b in zip(g.deprel, f.deprel, strict=True)]) for g, f in zip(gold, found, strict=True)
    ]
    words = [np.array([not is_punctuation(form) for form in sentence.form]) for sentence in gold]
    crossing = [i for i, sentence in enumerate(gold) if not is_projective(sentence.heads)]
    everything = list(range(len(gold)))
    both = [r & own for r, own in zip(right, labels, strict=True)]
    return {
        "uas": share(right, everything),
        "las": share(both, everything),
        "uas_words": share([r[w] for r, w in zip(right, words, strict=True)], everything),
        "las_words": share([b[w] for b, w in zip(both, words, strict=True)], everything),
        "complete": share([r.all(keepdims=True) for r in right], everything),
        "uas_b": share(right, crossing),
        "complete_b": share([r.all(keepdims=True) for r in right], crossing),
        "sentences_b": len(crossing),
        "right": packed(right),
    }


def is_punctuation(form: str) -> bool:
    """As the scorer of CoNLL-X has it: not all treebanks have a tag for it."""
    return all(unicodedata.category(character).startswith("P") for character in form)


def without_graph(sentence: Sentence) -> Sentence:
    """The sentence without DEPS and without empty nodes, which have arcs too."""
    inserts = tuple(insert for insert in sentence.inserts if not insert.is_empty_node)
    return replace(sentence, inserts=inserts).with_columns(deps=["_"] * len(sentence))


def graph_scores(gold: Sequence[Sentence], found: Sequence[Sentence]) -> list[float]:
    """Precision, recall and F of the arcs of DEPS without labels; a tree is a graph, too."""
    score = evaluate(gold, map(tree_as_graph, found)).graph.unlabelled
    return [round(100 * rate, 2) for rate in (score.precision, score.recall, score.f1)]


def share(right: Sequence[NDArray[np.bool_]], chosen: Sequence[int]) -> float | None:
    """Of the entries of chosen arrays, in per cent."""
    if not chosen:
        return None
    return round(100 * float(np.concatenate([right[i] for i in chosen]).mean()), 2)


def packed(right: Sequence[NDArray[np.bool_]]) -> str:
    """Which words have the right head, as a short text."""
    bits = np.concatenate(right)
    return f"{len(bits)}:{base64.b64encode(np.packbits(bits).tobytes()).decode()}"


def unpacked(text: str) -> NDArray[np.bool_]:
    length, _, code = text.partition(":")
    return np.unpackbits(np.frombuffer(base64.b64decode(code), np.uint8), count=int(length)).astype(bool)


def p_value(first: Figures, second: Figures) -> float:
    """Of McNemar's test: whether two parsers are equally good at heads."""
    one, other = unpacked(first["right"]), unpacked(second["right"])
    return mcnemar(int((one & ~other).sum()), int((other & ~one).sum()))
