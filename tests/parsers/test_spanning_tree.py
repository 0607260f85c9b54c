"""What only the spanning-tree parser does: exact k best trees, jobs, presets, reasons that add up."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import crossarc
import oracles
from crossarc.core import Constraints, CrossarcError, Sentence
from crossarc.evaluation import evaluate
from crossarc.features.attributes import attributes_of
from crossarc.parsers import PRESETS, ModelError, ParseOptions, SpanningTreeConfig, UnsupportedOption, train
from crossarc.parsers.linear._learn import learn
from crossarc.parsers.linear._parse import score_trees
from crossarc.parsers.linear.training import LinearTraining, update_rule
from crossarc.parsers.training import TrainingSetup, Treebank
from crossarc.trees import best_tree, is_projective, is_tree, k_best_trees
from trained import CONFIGS, DEV, TEST, TRAIN, Interrupting, names_of, trained


@pytest.fixture(params=names_of(system="spanning-tree"))
def parser(request):
    return trained(request.param)


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


def test_order_1_without_a_pruner_is_exact():
    parser = trained("order 1, all heads")
    for sentence, found in zip(TEST, parser.trees(TEST), strict=True):
        best = best_tree(parser.scores(sentence), single_root=bool(parser.config.single_root))
        assert found.heads.tolist() == best.heads.tolist()


def strictly_pruned(parser):
    """The parser with a pruner that leaves each word one head, and what a tree needs."""
    options = parser.scorer.options._replace(max_candidates=1, pruning_margin=1e-3)
    return replace(parser, scorer=replace(parser.scorer, options=options))


@pytest.mark.parametrize("name", ["order 1", pytest.param("order 1, joint labels", marks=pytest.mark.slow)])
def test_exact_trees_are_the_best_over_all_heads_and_say_what_the_pruner_leaves(name):
    """Against enumeration; the certificate says whether what the parser finds otherwise is the best tree."""
    parser, seen = strictly_pruned(trained(name)), set()
    whole, shape = replace(parser, scorer=parser.scorer.without_pruning()), bool(parser.config.single_root)
    for sentence in (Sentence.of(s.form[:5], upos=s.upos[:5], lemma=s.lemma[:5]) for s in TEST):
        scores = whole.potentials(attributes_of([sentence]), whole.parse_sentence(sentence).heads, Constraints())[0]
        trees = oracles.all_trees(len(sentence), single_root=shape)
        best, *others = sorted((oracles.score(scores, heads) for heads in trees), reverse=True)
        (certified,) = parser.parse([sentence], ParseOptions(exact=True))
        assert oracles.score(scores, certified.sentence.heads) == pytest.approx(best)
        pruned = oracles.score(scores, parser.parse_sentence(sentence).heads)
        expected = "optimal" if pruned == pytest.approx(best) else "optimal (left out by the pruner)"
        assert certified.status == expected
        seen.add(certified.status)
        (listed,) = parser.parse([sentence], ParseOptions(exact=True, k=4))
        assert [tree.score for tree in listed.trees] == pytest.approx([best, *others[:3]], abs=1e-3)
    assert len(seen) == 2


def test_exact_trees_are_refused_where_there_are_none():
    with pytest.raises(UnsupportedOption, match="--exact"):
        next(trained("order high").parse(TEST, ParseOptions(exact=True)))
    with pytest.raises(UnsupportedOption, match="--decode"):
        next(trained("order 1").parse(TEST, ParseOptions(exact=True, decode="min-risk")))


@pytest.mark.slow
def test_a_violated_margin_is_enough_for_an_update():
    """Where the search finds a tree worse than the gold one, but not by its loss, MIRA learns from it (MP06, §4)."""
    config = replace(PRESETS["mp2006"], hash_bits=16, max_changes=0)  # only projective trees are found
    training = LinearTraining(Treebank(TRAIN), config, TrainingSetup())
    learner, batch, gold = training.learner, training.treebank.batch, training.treebank.gold
    training.heads = training._head_stage(None)
    training.label_weights = training._train_labels(np.random.default_rng(1))
    models, parser = training.heads.scorer(learner.weights).models, training._parser(training._scorer(learner.weights))
    crossing = [i for i, sentence in enumerate(TRAIN) if not is_projective(sentence.heads)][:5]
    for number in crossing:
        sentence = TRAIN[number]
        learner.weights[:] = 0.0
        for _ in range(50):
            learn(batch, np.array([number]), models, learner, gold, config.search, update_rule(config), np.uint64(0))
        own, allowed = attributes_of([sentence]), parser.allowed(len(sentence) + 1, Constraints())
        heads, _ = parser.best_trees(own, Constraints())
        trees, scores = np.stack([sentence.heads, heads]), np.zeros(2)
        score_trees(own, models, allowed, config.search.shape, trees, np.full_like(trees, -1), scores)
        assert scores[0] - scores[1] >= (heads != sentence.heads).sum() - 0.1 > 0


def test_without_labels_only_heads_are_learnt():
    parser = train(TRAIN[:60], replace(CONFIGS["order 1"], labels="none", epochs=2), dev=DEV)
    assert parser.dev.uas == parser.dev.las > 0.7
    (tree,) = parser.trees(TEST[:1])
    assert set(tree.deprel) == {"_"}
    assert evaluate(TEST, parser.trees(TEST)).all_words.uas.f1 > 0.7


def test_the_number_of_weights_grows_with_the_treebank_and_the_features():
    def bits(treebank, **options):
        config = SpanningTreeConfig(single_root=True, projective=False, **options)
        return LinearTraining(Treebank(treebank), config, TrainingSetup()).config.hash_bits

    assert bits(TRAIN * 8) == bits(TRAIN) + 3
    assert bits(TRAIN, order="1") < bits(TRAIN, order="high")
    assert bits(TRAIN, max_candidates=0) > bits(TRAIN)
    assert bits(TRAIN, hash_bits=12) == 12
    assert all(preset.hash_bits is None for preset in PRESETS.values())  # those of the papers, too
    assert train(TRAIN[:5], SpanningTreeConfig(order="1", epochs=1)).config.hash_bits == 16


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
