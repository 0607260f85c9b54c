"""What only the spanning-tree parser does: exact k best trees, jobs, presets, reasons that add up."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import crossarc
from crossarc.core import CrossarcError, Sentence
from crossarc.evaluation import evaluate
from crossarc.parsers import PRESETS, ModelError, ParseOptions, SpanningTreeConfig, train
from crossarc.trees import is_tree, k_best_trees
from trained import CONFIGS, DEV, TEST, TRAIN, Interrupting, names_of, trained


@pytest.fixture(params=names_of(system="spanning-tree"))
def parser(request):
    return trained(request.param)


@pytest.mark.parametrize("name", ["order high", pytest.param("order 1, joint labels", marks=pytest.mark.slow)])
def test_training_repeats_whatever_the_jobs(name):
    parser = trained(name)
    again = train(TRAIN, parser.config, dev=DEV, jobs=2)
    np.testing.assert_array_equal(again.scorer.heads_model.weights, parser.scorer.heads_model.weights)
    assert list(again.trees(TEST)) == list(parser.trees(TEST))


def test_k_best_of_order_1_without_a_pruner_is_exact():
    parser = trained("order 1, all heads")
    sentence = TEST[0]
    exact = k_best_trees(parser.scores(sentence), 6, single_root=bool(parser.config.single_root))
    (found,) = parser.parse([sentence], ParseOptions(k=6))
    assert [tree.score for tree in found.trees] == pytest.approx([tree.score for tree in exact], abs=1e-3)


def test_an_interrupt_before_the_first_epoch_of_heads_keeps_nothing():
    config = SpanningTreeConfig(order="1", epochs=9, hash_bits=18)
    with pytest.raises(KeyboardInterrupt):
        train(TRAIN, config, listener=Interrupting("labels", 2))


def test_training_does_not_go_on_with_other_options(tmp_path):
    config, options = CONFIGS["order 1"], {"dev": DEV, "checkpoint": tmp_path / "my.training"}
    train(TRAIN, config, listener=Interrupting("heads", 1), **options)
    with pytest.raises(ModelError, match="other options: seed"):
        train(TRAIN, replace(config, seed=5), resume=True, **options)


@pytest.mark.parametrize(
    "preset", ["mst2005-single", *(pytest.param(p, marks=pytest.mark.slow) for p in PRESETS if p != "mst2005-single")]
)
def test_the_systems_of_the_papers_learn(preset):
    config = replace(PRESETS[preset], epochs=2, hash_bits=18)
    parser = train(TRAIN[:100], config)
    assert parser.scorer.pruner is None
    assert evaluate(TEST, parser.trees(TEST)).all_words.uas.f1 > 0.7


@pytest.mark.slow
def test_the_perceptron_learns():
    config = SpanningTreeConfig(order="1", learner="perceptron", epochs=2, hash_bits=18)
    assert evaluate(TEST, train(TRAIN, config).trees(TEST)).all_words.uas.f1 > 0.7


def test_learners_without_an_exact_search_are_refused():
    with pytest.raises(CrossarcError, match="kbest-mira needs order 1"):
        SpanningTreeConfig(order="2", learner="kbest-mira")


@pytest.mark.parametrize("order", [pytest.param("2", marks=pytest.mark.slow), "high"])
def test_a_long_sentence_is_parsed(order):
    parser = train(TRAIN[:50], replace(CONFIGS[f"order {order}"], epochs=1))
    forms = [form for sentence in TRAIN for form in sentence.form][:400]
    tree = parser.parse_sentence(Sentence.of(forms))
    assert is_tree(tree.heads)


def test_the_top_of_the_package():
    parser = crossarc.train(TRAIN[:20], SpanningTreeConfig(order="1", epochs=1, hash_bits=18))
    assert len(list(parser.trees(TEST[:3]))) == 3
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
                reasons = parser.explain(sentence, h, m)
                own = sum(reason.weight for reason in reasons if reason.part in ("arc", "between", "pairs"))
                assert own == pytest.approx(scores[h, m], abs=1e-3)
                assert [r.weight for r in reasons] == sorted((r.weight for r in reasons), reverse=True)
