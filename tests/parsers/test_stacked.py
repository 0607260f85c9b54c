"""Stacked parsers: what a guide adds, and that it is in the model."""

from __future__ import annotations

from functools import cache

import pytest

import crossarc
from changed_models import assert_refused_with
from commands import output_of
from crossarc.core import Constraints, CrossarcError
from crossarc.evaluation import evaluate
from crossarc.features.guides import guide_of
from crossarc.parsers import (
    Capability,
    CovingtonConfig,
    GenerativeConfig,
    NeuralConfig,
    Parsed,
    ParseOptions,
    SpanningTreeConfig,
    TrainingListener,
    load,
    train,
)
from crossarc.parsers.stacked.config import StackedConfig, inner_config
from crossarc.parsers.stacked.training import train as train_stacked
from crossarc.parsers.training import DevScores, TrainingSetup
from trained import DEV, TEST, TRAIN, trained

SMALL = SpanningTreeConfig(order="1", epochs=3, hash_bits=18)


@cache
def stacked():
    return train(TRAIN, SMALL, dev=DEV, stack="generative")


class AllKnowing:
    """A guide that takes the trees that sentences have for its own."""

    def parse(self, sentences):
        return map(Parsed, sentences)

    def trees(self, sentences):
        return iter(sentences)


@pytest.mark.parametrize(
    "config",
    [  # without a pruner, which does not know the guide
        SpanningTreeConfig(order="1", epochs=3, hash_bits=18, max_candidates=0),
        pytest.param(CovingtonConfig(epochs=6, hash_bits=20), marks=pytest.mark.slow),
    ],
)
def test_a_good_guide_is_believed(config):
    """Words without forms and tags tell a parser nothing: all that it knows is from the guide."""
    names = ("form", "lemma", "upos", "xpos", "feats")
    unknown = [sentence.with_columns(**{name: ["_"] * len(sentence) for name in names}) for sentence in TRAIN]
    test = unknown[150:]
    learn = lambda trees, setup: train(trees, inner_config(config), dev=setup.dev)  # noqa: E731
    setup = TrainingSetup(test)
    found = train_stacked(unknown[:150], StackedConfig("gold"), setup, learn, lambda trees, setup: AllKnowing(), None)
    assert found.dev.uas > 0.95
    assert found.dev.las > 0.95
    assert found.dev == DevScores(*(getattr(evaluate(test, found.trees(test)).all_words, s).f1 for s in ("uas", "las")))
    assert train(unknown[:150], config, dev=test).dev.uas < 0.6


def test_guides_have_not_seen_the_sentences_that_they_parse():
    """A guide says of each sentence whether it has been trained on it; the last one has seen all."""
    learnt = []

    class Naming(AllKnowing):
        def __init__(self, seen):
            self.seen = {sentence.sent_id for sentence in seen}

        def trees(self, sentences):
            for sentence in sentences:
                yield sentence.with_columns(deprel=["seen" if sentence.sent_id in self.seen else "new"] * len(sentence))

    def learn(trees, setup):
        learnt.extend(trees)
        return trained("order 1")

    told = []

    class Listening(TrainingListener):
        def guide_trained(self, fold, folds, scores):
            told.append((fold, folds, scores.uas, scores.las))

    setup = TrainingSetup(listener=Listening())
    config = StackedConfig("x")
    found = train_stacked(TRAIN[:30], config, setup, learn, lambda trees, setup: Naming(trees), None)
    assert [sentence.sent_id for sentence in learnt] == [sentence.sent_id for sentence in TRAIN[:30]]
    assert {label for sentence in learnt for label in guide_of(sentence).labels[1:]} == {"new"}
    assert told == [(fold, 5, 1.0, 0.0) for fold in (1, 2, 3, 4, 5)]
    assert found.guide.seen == {sentence.sent_id for sentence in TRAIN[:30]}


def test_it_learns_and_the_model_has_the_guide(tmp_path):
    own = stacked()
    found = list(own.trees(TEST))
    assert evaluate(TEST, found).all_words.las.f1 > 0.75
    assert [sentence.misc for sentence in found] == [sentence.misc for sentence in TEST]
    own.save(tmp_path / "model")
    again = load(tmp_path / "model")
    assert list(again.trees(TEST)) == found
    assert (again.guide.system, again.parser.system, again.config) == ("generative", "spanning-tree", own.config)
    assert again.dev == own.dev


def test_it_can_do_what_the_parser_can_do():
    own = stacked()
    assert own.capabilities == own.parser.capabilities >= {Capability.K_BEST, Capability.DISTRIBUTION}
    sentence = next(sentence for sentence in TEST if len(sentence) > 5)
    (parsed,) = own.parse([sentence], ParseOptions(k=3, confidence=True))
    assert len(parsed.trees) == 3
    assert parsed.probability > 0
    assert all(tree.sentence.misc == sentence.misc for tree in parsed.trees)
    required = own.parse_sentence(sentence, Constraints(required_arcs=frozenset({(0, 2)})))
    assert required.head[1] == "0"
    (judged,) = own.judge([sentence])
    assert judged.heads.shape == (len(sentence) + 1,)
    assert judged.parsed.sentence.misc == sentence.misc
    assert own.calibrated(DEV).knows_probabilities
    tree = own.parse_sentence(sentence)
    reasons = own.explain(tree, int(tree.head[0]), 1)
    assert "h.place m.guide" in {reason.template for reason in reasons}


def test_a_model_may_be_the_guide(tmp_path):
    config = GenerativeConfig()
    guide = train(TRAIN, config)
    guide.save(tmp_path / "guide")
    own = train(TRAIN, SMALL, dev=DEV, stack=tmp_path / "guide")
    assert list(own.trees(TEST)) == list(stacked().trees(TEST))
    assert own.guide.treebank == guide.treebank


def test_a_pseudo_projective_guide_and_a_guided_pseudo_projective_parser(tmp_path):
    small = SpanningTreeConfig(order="1", epochs=1, hash_bits=16)
    train(TRAIN, small, pseudo_projective="head").save(tmp_path / "guide")
    own = train(TRAIN, small, stack=tmp_path / "guide")
    assert own.guide.config.encoding == "head"
    both = train(TRAIN, small, stack="generative", pseudo_projective="head")
    both.save(tmp_path / "both")
    found = list(load(tmp_path / "both").trees(TEST))
    assert found == list(both.trees(TEST))
    assert not any("↑" in label for sentence in found for label in sentence.deprel)
    stacked().save(tmp_path / "stacked")
    with pytest.raises(CrossarcError, match="a stacked parser cannot guide"):
        train(TRAIN, small, stack=tmp_path / "stacked")


def test_what_cannot_be_stacked():
    with pytest.raises(CrossarcError, match="a system with feature sets"):
        train(TRAIN, NeuralConfig(), stack="covington")
    with pytest.raises(CrossarcError, match="neither a system, nor a preset, nor a model"):
        train(TRAIN, SMALL, stack="nonsense")
    with pytest.raises(CrossarcError, match="4 sentences for 5 guides"):
        train(TRAIN[:4], SMALL, stack="generative")


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"labels": ["a"]}, "not those of its parser"),
        ({"guide": {"system": "nonsense"}}, "unknown: nonsense"),
        ({"guide": {"system": "generative"}}, "guide has no config"),
        ({"config": {"guide": 1}}, "guide is 1, not str"),
    ],
)
def test_models_that_make_no_sense_are_refused(change, problem, tmp_path):
    assert_refused_with(change, stacked(), problem, tmp_path)


def test_on_the_command_line(tmp_path):
    crossarc.write(TRAIN, tmp_path / "train.conllu")
    crossarc.write(TEST, tmp_path / "test.conllu")
    model, out = tmp_path / "my.crossarc", tmp_path / "out.conllu"
    options = ["--order", "1", "--epochs", "1", "--hash-bits", "16", "--stack", "generative"]
    said = output_of("train", tmp_path / "train.conllu", "-m", model, *options)
    assert "guide 5 of 5: UAS" in said
    output_of("parse", tmp_path / "test.conllu", "-m", model, "-k", "2", "-o", out)
    assert "Guide" not in out.read_text(encoding="utf-8")
    shown = output_of("inspect", model)
    assert "default+guide" in shown
    assert "generative" in shown
    assert "-k " in output_of("parse", "-m", model, "--help")
