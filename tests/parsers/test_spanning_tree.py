"""What only the spanning-tree parser does: k best trees, jobs, resuming, presets, explanations."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import crossarc
from crossarc.core import CrossarcError, Sentence
from crossarc.evaluation import evaluate
from crossarc.parsers import (
    PRESETS,
    ModelError,
    SpanningTreeConfig,
    train_spanning_tree,
)
from crossarc.parsers.spanning_tree.explain import explain
from crossarc.trees import is_tree, k_best_trees
from trained import CONFIGS, DEV, TEST, TRAIN, Interrupting, names_of, trained


@pytest.fixture(params=names_of(SpanningTreeConfig))
def parser(request):
    return trained(request.param)


@pytest.mark.parametrize("name", ["order high", "order 1, joint labels"])
def test_training_repeats_whatever_the_jobs(name):
    parser = trained(name)
    again = train_spanning_tree(TRAIN, parser.config, dev=DEV, jobs=2)
    np.testing.assert_array_equal(again.scorer.heads_model.weights, parser.scorer.heads_model.weights)
    assert list(again.parse(TEST)) == list(parser.parse(TEST))


def test_k_best_trees_are_distinct_and_in_order(parser):
    for sentence in TEST[:5]:
        trees = parser.k_best(sentence, 5)
        assert trees[0].sentence.head == parser.parse_sentence(sentence).head
        assert [tree.score for tree in trees] == sorted((tree.score for tree in trees), reverse=True)
        assert len({tree.sentence.head for tree in trees}) == len(trees) == 5


def test_k_best_of_order_1_without_a_pruner_is_exact():
    parser = trained("order 1, all heads")
    sentence = TEST[0]
    exact = k_best_trees(parser.scores(sentence), 6, single_root=bool(parser.config.single_root))
    found = parser.k_best(sentence, 6)
    assert [tree.score for tree in found] == pytest.approx([tree.score for tree in exact], abs=1e-3)


def test_an_interrupt_before_the_first_epoch_of_heads_keeps_nothing():
    config = SpanningTreeConfig(order="1", epochs=9, hash_bits=18)
    with pytest.raises(KeyboardInterrupt):
        train_spanning_tree(TRAIN, config, listener=Interrupting("labels", 2))


@pytest.mark.parametrize("name", ["order high", "order 1, joint labels"])
def test_training_goes_on_where_it_was_interrupted(name, tmp_path):
    checkpoint = tmp_path / "my.training"
    config = CONFIGS[name]
    options = {"dev": DEV, "checkpoint": checkpoint}
    train_spanning_tree(TRAIN, config, listener=Interrupting("heads", 1), **options)
    with pytest.raises(ModelError, match="the state of an interrupted training"):
        crossarc.load(checkpoint)
    with pytest.raises(ModelError, match="another treebank"):
        train_spanning_tree(TRAIN[:50], config, resume=True, **options)
    with pytest.raises(ModelError, match="other options: seed"):
        train_spanning_tree(TRAIN, replace(config, seed=5), resume=True, **options)
    resumed = train_spanning_tree(TRAIN, config, resume=True, **options)
    straight = trained(name)
    assert not checkpoint.exists()
    assert list(resumed.parse(TEST)) == list(straight.parse(TEST))
    np.testing.assert_array_equal(resumed.scorer.heads_model.weights, straight.scorer.heads_model.weights)
    with pytest.raises(ModelError, match="nothing to resume"):
        train_spanning_tree(TRAIN, config, resume=True, **options)


@pytest.mark.parametrize(
    "preset", ["mst2005-single", *(pytest.param(p, marks=pytest.mark.slow) for p in PRESETS if p != "mst2005-single")]
)
def test_the_systems_of_the_papers_learn(preset):
    config = replace(PRESETS[preset], epochs=2, hash_bits=18)
    parser = train_spanning_tree(TRAIN[:100], config)
    assert parser.scorer.pruner is None
    assert evaluate(TEST, parser.parse(TEST)).all_words.uas.f1 > 0.7


def test_the_perceptron_learns():
    config = SpanningTreeConfig(order="1", learner="perceptron", epochs=2, hash_bits=18)
    assert evaluate(TEST, train_spanning_tree(TRAIN, config).parse(TEST)).all_words.uas.f1 > 0.7


def test_learners_without_an_exact_search_are_refused():
    with pytest.raises(CrossarcError, match="kbest-mira needs order 1"):
        SpanningTreeConfig(order="2", learner="kbest-mira")


@pytest.mark.parametrize("order", [pytest.param("2", marks=pytest.mark.slow), "high"])
def test_a_long_sentence_is_parsed(order):
    parser = train_spanning_tree(TRAIN[:50], replace(CONFIGS[f"order {order}"], epochs=1))
    forms = [form for sentence in TRAIN for form in sentence.form][:400]
    tree = parser.parse_sentence(Sentence.of(forms))
    assert is_tree(tree.heads)


def test_the_top_of_the_package():
    parser = crossarc.train(TRAIN[:20], SpanningTreeConfig(order="1", epochs=1, hash_bits=18))
    assert len(list(parser.parse(TEST[:3]))) == 3
    with pytest.raises(ModelError, match="no such file"):
        crossarc.load("nowhere")
    with pytest.raises(AttributeError):
        _ = crossarc.nothing


def test_reasons_add_up_to_the_score_of_an_arc(parser):
    sentence = parser.parse_sentence(TEST[0])
    scores = parser.scores(sentence)
    for m in range(1, len(sentence) + 1):
        for h in range(len(sentence) + 1):
            if h != m:
                reasons = explain(parser, sentence, h, m)
                own = sum(reason.weight for reason in reasons if reason.part in ("arc", "between", "pairs"))
                assert own == pytest.approx(scores[h, m], abs=1e-3)
                assert [r.weight for r in reasons] == sorted((r.weight for r in reasons), reverse=True)
