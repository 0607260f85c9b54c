"""Parsers that tests share: each is trained once in a process."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

import pytest

from crossarc.core import Sentence
from crossarc.parsers import (
    PRESETS,
    Capability,
    CombinedConfig,
    CovingtonConfig,
    GenerativeConfig,
    GraphConfig,
    IlpConfig,
    NeuralConfig,
    SpanningTreeConfig,
    TrainingListener,
    train,
)
from crossarc.parsers.registry import WRAPPERS, system_of
from crossarc.testing import random_treebank


def with_graph(sentence: Sentence) -> Sentence:
    """The sentence with a graph: infinitives share the subject of their verb, adjectives the head of their noun."""
    heads, arcs = sentence.head, [[(int(h), label)] for h, label in zip(sentence.head, sentence.deprel, strict=True)]
    for head, label, own in zip(heads, sentence.deprel, arcs, strict=True):
        if label == "amod":
            own.append((int(heads[int(head) - 1]), f"amod:{sentence.deprel[int(head) - 1]}"))
        elif label == "nsubj":
            own += [(word.id, "nsubj:xsubj") for word in sentence[int(head)].children if word.deprel == "xcomp"]
    return sentence.with_columns(deps=["|".join(f"{h}:{label}" for h, label in sorted(own)) for own in arcs])


TREEBANK = list(map(with_graph, random_treebank(260, seed=11, nonprojectivity=0.3)))
TRAIN, DEV, TEST = TREEBANK[:200], TREEBANK[200:220], TREEBANK[220:]

# A network that learns the treebank of the tests in seconds
SMALL = {"epochs": 15, "batch_words": 100, "embedding_size": 32, "hidden_size": 32, "arc_size": 32, "label_size": 16}

# Every system is here: test_parser_contract.py checks that
CONFIGS = {
    "order 1": SpanningTreeConfig(order="1", epochs=3, hash_bits=18),
    "order 2": SpanningTreeConfig(order="2", epochs=3, hash_bits=18),
    "order high": SpanningTreeConfig(order="high", epochs=3, hash_bits=18),
    "order 1, joint labels": SpanningTreeConfig(order="1", labels="joint", epochs=3, hash_bits=18),
    "order high, joint labels": SpanningTreeConfig(order="high", labels="joint", epochs=3, hash_bits=18),
    "order 1, all heads": SpanningTreeConfig(order="1", max_candidates=0, epochs=3, hash_bits=18),
    "order 1, crf": replace(PRESETS["ms2007"], epochs=3, hash_bits=18),
    "covington": CovingtonConfig(epochs=6, hash_bits=20),
    "covington, static oracle": CovingtonConfig(epochs=6, hash_bits=20, exploration=0.0),
    "covington, several roots": CovingtonConfig(epochs=6, hash_bits=20, single_root=False),
    "covington, svm": CovingtonConfig(classifier="svm"),
    "neural": NeuralConfig(learning_rate=0.01, dropout=0.1, **SMALL),
    "neural, own tags": NeuralConfig(tags="own", learning_rate=0.02, dropout=0.05, **SMALL),
    "combined": CombinedConfig(members="spanning-tree,ms2007"),
    "generative": GenerativeConfig(),
    "generative, em": GenerativeConfig(unsupervised=True, epochs=5),
    "ilp": IlpConfig(parts="arc,grandparent,next-sibling,first-child", epochs=2, hash_bits=18),
    "graph": GraphConfig(epochs=3, hash_bits=18),
    "pseudo-projective": SpanningTreeConfig(order="1", epochs=3, hash_bits=18),
    "stacked": SpanningTreeConfig(order="1", epochs=3, hash_bits=18),
}

# What is put around some of them: each wrapper by its own name
AROUND: dict[str, dict[str, Any]] = {
    "pseudo-projective": {"pseudo_projective": "head+path"},
    "stacked": {"stack": "generative"},
}

SLOW = {
    "combined",
    "order 2",
    "order 1, joint labels",
    "order 1, crf",
    "order high, joint labels",
    "covington",
    "covington, static oracle",
    "covington, several roots",
    "covington, svm",
    "ilp",
    "graph",
    "neural",
    "neural, own tags",
    "pseudo-projective",
    "stacked",
}


@cache
def trained(name: str) -> Any:
    """A parser with that configuration."""
    return learnt(name)


def learnt(name: str, treebank: list[Sentence] = TRAIN, **options: Any) -> Any:
    """The same, trained anew."""
    if name.startswith("neural"):
        pytest.importorskip("torch", reason="neural parsers are trained with torch").set_num_threads(1)
    return train(treebank, CONFIGS[name], dev=DEV, **AROUND.get(name, {}), **options)


def names_of(*capabilities: Capability, system: str | None = None) -> list[Any]:
    """The names of the configurations of parsers that can do all this, as parameters of a test."""
    return [
        pytest.param(name, marks=pytest.mark.slow if name in SLOW else ())
        for name in CONFIGS
        if system in (None, system_name(name)) and set(capabilities) <= capabilities_of(name)
    ]


def system_name(name: str) -> str:
    """What the header of its model will say."""
    return name if name in AROUND else system_of(CONFIGS[name]).name


def capabilities_of(name: str) -> frozenset[Capability]:
    inner = system_of(CONFIGS[name])
    if name in AROUND:
        return WRAPPERS[name].parser.capabilities_in({"parser": {"system": inner.name}})
    return inner.parser.capabilities


class Interrupting(TrainingListener):
    """Interrupts training after an epoch."""

    def __init__(self, stage, epoch):
        self.when = stage, epoch

    def end_epoch(self, report):
        if (report.stage, report.epoch) == self.when:
            raise KeyboardInterrupt
