"""Probabilities of arcs, labels and trees against enumeration; decoding by them; calibration; suspicion."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import numpy as np
import pytest

import oracles
from crossarc.core import Constraints, CrossarcError, InputError, Sentence
from crossarc.evaluation.calibration import (
    Calibration,
    Curve,
    Temperatures,
    expected_calibration_error,
    fit_curve,
    reliability,
)
from crossarc.features.attributes import attributes_of
from crossarc.parsers import PRESETS, ParseOptions, SpanningTreeConfig, train
from crossarc.parsers.calibration import reliability_of
from crossarc.parsers.suspicious import cross_validated_suspects, suspects
from crossarc.pipeline.output import with_confidence
from crossarc.testing import random_treebank

TREEBANK = list(random_treebank(460, seed=11, nonprojectivity=0.3))
TRAIN, DEV, TEST = TREEBANK[:200], TREEBANK[200:300], TREEBANK[300:]
SHORT = [s for s in random_treebank(300, seed=11, nonprojectivity=0.3) if 2 <= len(s) <= 5][:4]

CONFIGS = {
    "crf": replace(PRESETS["ms2007"], hash_bits=16, epochs=3),
    "mira, order 1": SpanningTreeConfig(order="1", epochs=2, hash_bits=16),
    "mira, high order": SpanningTreeConfig(order="high", epochs=2, hash_bits=16),
}


@pytest.fixture(
    scope="module", params=[pytest.param("crf", marks=pytest.mark.slow), "mira, order 1", "mira, high order"]
)
def parser(request):
    return train(TRAIN, CONFIGS[request.param], dev=DEV)


@pytest.fixture(scope="module")
def first_order():
    return train(TRAIN, CONFIGS["mira, order 1"], dev=DEV)


def potentials(parser, sentence, constraints):
    batch = attributes_of([sentence])
    heads, _ = parser.best_trees(batch, constraints)
    return parser.potentials(batch, heads, constraints)[0] / parser.calibration.temperatures.arcs


def numbers_of(parser, sentence):
    return [parser.labels.index(label) for label in sentence.deprel]


def flat(parser):
    """The parser with high temperatures, so that many trees are likely, and without curves."""
    return replace(parser, calibration=Calibration(Temperatures(parser.calibration.temperatures.arcs * 3, 2.0)))


@pytest.mark.parametrize(
    "constraints",
    [
        Constraints(),
        pytest.param(Constraints(projective=True), marks=pytest.mark.slow),
        Constraints(forbidden_arcs=frozenset({(0, 1)}), required_arcs=frozenset({(1, 2)})),
    ],
    ids=["free", "projective", "constrained"],
)
def test_probabilities_are_those_of_all_trees(parser, constraints):
    parser = flat(parser)
    flags = {"single_root": True, "projective": constraints.projective}
    for sentence in SHORT:
        (parsed,) = parser.parse([sentence], ParseOptions(confidence=True, constraints=constraints))
        found, tree = parsed.confidence, parsed.sentence
        scores = potentials(parser, sentence, constraints)
        heads, words = tree.heads, range(1, len(sentence) + 1)
        expected = oracles.marginals(scores, **flags)
        np.testing.assert_allclose(found.marginals[:, 1:], expected[:, 1:], atol=1e-9)
        np.testing.assert_allclose(found.arcs[1:], [expected[heads[m], m] for m in words], atol=1e-9)
        assert found.entropy == pytest.approx(oracles.entropy(scores, **flags), abs=1e-8)
        totals = [total for total, _, _ in oracles.scored_trees(scores, **flags)]
        log_z = oracles.log_partition(scores, **flags)
        assert found.log_probability == pytest.approx(oracles.score(scores, heads) - log_z, abs=1e-8)
        sum_of_labels = np.log(found.label_shares[np.arange(1, len(heads)), numbers_of(parser, tree)]).sum()
        assert found.labelled_log_probability == pytest.approx(found.log_probability + sum_of_labels)
        assert found.margin == pytest.approx(totals[0] - totals[1] if len(totals) > 1 else np.inf)
        of_labels = parser.label_scores(attributes_of([sentence]), heads)[1:] / 2.0
        shares = np.exp(of_labels) / np.exp(of_labels).sum(axis=1, keepdims=True)
        own = numbers_of(parser, tree)
        np.testing.assert_allclose(found.labels[1:], found.arcs[1:] * shares[np.arange(len(own)), own], rtol=1e-5)


def test_the_potentials_of_order_1_are_its_scores(first_order):
    """Of all trees, the best one is that of the parser."""
    for sentence in SHORT:
        trees = oracles.scored_trees(potentials(first_order, sentence, Constraints()), single_root=True)
        assert tuple(first_order.parse_sentence(sentence).heads.tolist()) == trees[0][1]


def test_min_risk_has_the_most_arcs_that_are_expected_to_be_right(parser):
    for sentence in SHORT:
        (parsed,) = parser.parse([sentence], ParseOptions(confidence=True, decode="min-risk"))
        marginals = parsed.confidence.marginals
        candidates = oracles.all_trees(len(sentence), single_root=True)
        expected = max(oracles.score(marginals, heads) for heads in candidates)
        assert oracles.score(marginals, parsed.sentence.heads) == pytest.approx(expected)


def test_words_below_the_threshold_are_left_without_a_head(parser):
    sure = 0
    for whole, found in zip(
        parser.parse(DEV, ParseOptions(confidence=True, decode="min-risk")),
        parser.parse(DEV, ParseOptions(decode="marginal-threshold", threshold=0.9)),
        strict=True,
    ):
        for m in range(1, len(whole.sentence) + 1):
            kept = whole.confidence.arcs[m] >= 0.9
            sure += kept
            assert found.sentence.head[m - 1] == (whole.sentence.head[m - 1] if kept else "_")
            assert found.sentence.deprel[m - 1] == (whole.sentence.deprel[m - 1] if kept else "_")
    assert 0 < sure < sum(map(len, DEV))


def test_k_best_trees_have_their_probabilities(first_order):
    for sentence in SHORT:
        trees = oracles.scored_trees(potentials(first_order, sentence, Constraints()), single_root=True)
        log_z = np.logaddexp.reduce([total for total, _, _ in trees])
        (found,) = first_order.parse([sentence], ParseOptions(k=3))
        expected = [np.exp(total - log_z) for total, _, _ in trees[:3]]
        assert [tree.probability for tree in found.trees] == pytest.approx(expected)


def test_k_best_trees_are_in_the_order_of_the_probability_that_is_said(parser):
    for found in parser.parse(TEST[:40], ParseOptions(k=5, confidence=True)):
        probabilities, scores = [tree.probability for tree in found.trees], [tree.score for tree in found.trees]
        assert probabilities == sorted(probabilities, reverse=True)
        assert sum(probabilities) <= 1 + 1e-9
        assert scores == sorted(scores, reverse=True)
        said = [tree.confidence.log_probability for tree in found.trees]
        assert np.exp(said) == pytest.approx(probabilities)


@pytest.mark.slow
def test_labelled_trees_are_different_trees(parser):
    parser = flat(parser)
    for found in parser.parse(TEST[:40], ParseOptions(k=5, labelled=True, confidence=True)):
        probabilities = [tree.probability for tree in found.trees]
        assert probabilities == sorted(probabilities, reverse=True)
        assert len({(tree.sentence.head, tree.sentence.deprel) for tree in found.trees}) == len(found.trees)
        assert np.allclose(found.confidence.labelled_marginals[:, 1:].sum(axis=(0, 2)), 1.0)
        for tree in found.trees:
            sure, own = tree.confidence, numbers_of(parser, tree.sentence)
            assert np.exp(sure.labelled_log_probability) == pytest.approx(tree.probability)
            of_labels = np.log(sure.label_shares[np.arange(1, len(own) + 1), own]).sum()
            assert sure.labelled_log_probability == pytest.approx(sure.log_probability + of_labels)


def labelled_potentials(parser, sentence):
    """``[h, m, l]``: log-weights of labelled arcs, where labels are joint."""
    arcs = potentials(parser, sentence, Constraints())
    found = np.full((*arcs.shape, len(parser.labels)), -np.inf)
    for h, m in zip(*np.nonzero(np.isfinite(arcs)), strict=True):
        heads = np.zeros(len(arcs), dtype=np.int64)
        heads[m] = h
        scores = parser.label_scores(attributes_of([sentence]), heads)[m] / parser.calibration.temperatures.labels
        found[h, m] = arcs[h, m] + scores - np.logaddexp.reduce(scores)
    return found


@pytest.mark.slow
def test_labelled_quantities_are_those_of_all_labelled_trees():
    """With joint labels everything is exact: argmax, k best, tree probability, marginals, min-risk."""
    config = replace(CONFIGS["crf"], epochs=1, labels="joint")
    few = {label: "abc"[i % 3] for i, label in enumerate(sorted({label for s in TREEBANK for label in s.deprel}))}
    treebank = [s.with_tree(s.heads, ["_", *(few[label] for label in s.deprel)]) for s in TREEBANK]
    parser = flat(train(treebank[:100], config, dev=treebank[200:220]))
    for sentence in [s for s in SHORT if len(s) <= 4]:
        scores = labelled_potentials(parser, sentence)
        trees = oracles.scored_trees(scores, single_root=True)
        log_z = np.logaddexp.reduce([total for total, _, _ in trees])
        (found,) = parser.parse([sentence], ParseOptions(k=6, labelled=True, confidence=True))
        expected = [np.exp(total - log_z) for total, _, _ in trees[:6]]
        assert [tree.probability for tree in found.trees] == pytest.approx(expected)
        marginals = oracles.marginals(scores, single_root=True)
        np.testing.assert_allclose(found.confidence.labelled_marginals[:, 1:], marginals[:, 1:], atol=1e-6)
        (best,) = parser.parse([sentence], ParseOptions(labelled=True))
        assert best.probability == pytest.approx(expected[0])
        (safest,) = parser.parse([sentence], ParseOptions(labelled=True, decode="min-risk", confidence=True))
        own = (-1, *numbers_of(parser, safest.sentence))
        expected_arcs = max(oracles.score(marginals, heads, labels) for _, heads, labels in trees)
        assert oracles.score(marginals, safest.sentence.heads, own) == pytest.approx(expected_arcs)


def test_labels_that_are_forbidden_have_no_probability(first_order):
    usual = first_order.parse_sentence(SHORT[0]).deprel[0]
    number = first_order.labels.index(usual)
    forbidden = Constraints(forbidden_labels=frozenset({(1, number)}))
    for options in (ParseOptions(confidence=True), ParseOptions(confidence=True, labelled=True, k=2)):
        (found,) = first_order.parse([SHORT[0]], replace(options, constraints=forbidden))
        assert found.sentence.deprel[0] != usual
        assert found.confidence.label_shares[1, number] == 0.0
        assert found.confidence.label_shares[1].sum() == pytest.approx(1.0)


def test_confidence_is_written_beside_what_is_there(first_order):
    given = SHORT[0].with_columns(misc=["Gloss=x|ArcProb=7", *["_"] * (len(SHORT[0]) - 1)])
    (parsed,) = first_order.parse([given], ParseOptions(confidence=True))
    found = parsed.confidence
    once = with_confidence(parsed.sentence, found)
    arc, label = (math.floor(value * 1e4) / 1e4 for value in (found.arcs[1], found.labels[1]))
    assert once.misc[0] == f"Gloss=x|ArcProb={arc:.4f}|RelProb={label:.4f}"
    assert float(once.metadata("crossarc_entropy")) == pytest.approx(found.entropy, abs=1e-4)
    assert with_confidence(once, found) == once


def test_probabilities_are_honest(parser):
    """On trees that neither training nor calibration have seen."""
    tables = reliability_of(parser, TEST)
    assert sum(bin.predictions for bin in tables["arcs"]) == sum(map(len, TEST))
    assert expected_calibration_error(tables["arcs"]) < 0.06
    assert expected_calibration_error(tables["labelled arcs"]) < 0.06


def test_temperatures_cool_down_what_is_overheated(first_order):
    scorer, four = first_order.scorer, np.float32(4)
    hotter = scorer.with_heads(scorer.heads_model.weights * four).with_labels(scorer.labels_model.weights * four)
    hot = replace(first_order, scorer=hotter)
    before, again = first_order.calibration.temperatures, hot.calibrated(DEV).calibration.temperatures
    assert again.labels == pytest.approx(4 * before.labels, rel=0.1)
    assert again.arcs > 2 * before.arcs


def test_curves_are_kept_in_model_files_and_older_files_have_none(first_order):
    header, tensors = first_order.to_model()
    assert type(first_order).from_model(json.loads(json.dumps(header)), tensors).calibration == first_order.calibration
    del header["curves"]
    assert type(first_order).from_model(header, tensors).calibration == Calibration(
        first_order.calibration.temperatures
    )


def test_a_curve_makes_probabilities_honest():
    """Under-confident in the middle, over-confident at the end: no temperature mends that."""
    rng = np.random.default_rng(2)
    said = rng.beta(4, 1, size=20_000)
    right = rng.uniform(size=20_000) < 0.9 * said**0.6
    curve = fit_curve(said[:10_000], right[:10_000])
    assert expected_calibration_error(reliability(said[10_000:], right[10_000:])) > 0.03
    assert expected_calibration_error(reliability(curve(said[10_000:]), right[10_000:])) < 0.02
    assert np.all(np.diff(curve.accuracies) >= 0.0)


def test_a_curve_leaves_the_others_what_is_left():
    shares = np.array([[0.5, 0.3, 0.2], [1.0, 0.0, 0.0], [1.0, 0.0, 0.0]])
    possible = np.array([[True, True, True], [True, True, False], [True, False, False]])
    found = Curve((0.0, 0.5, 1.0), (0.0, 0.6, 0.9)).applied(shares, np.array([0, 0, 0]), possible)
    np.testing.assert_allclose(found, [[0.6, 0.24, 0.16], [0.9, 0.1, 0.0], [1.0, 0.0, 0.0]])


def test_hardly_any_predictions_make_no_curve():
    assert fit_curve(np.full(10, 0.9), np.zeros(10, dtype=bool)) == Curve()


@pytest.mark.slow
def test_without_dev_only_a_log_linear_parser_knows_probabilities():
    parser = train(TRAIN[:20], replace(CONFIGS["crf"], epochs=1))
    assert parser.calibration == Calibration()
    parser = train(TRAIN[:20], replace(CONFIGS["mira, order 1"], epochs=1))
    with pytest.raises(CrossarcError, match="calibrate DEV"):
        next(parser.parse(TEST, ParseOptions(confidence=True)))


def test_empty_sentences_and_single_words(parser):
    both = parser.parse([Sentence.of([]), Sentence.of(["yes"])], ParseOptions(confidence=True))
    empty, single = (parsed.confidence for parsed in both)
    assert empty.entropy == empty.log_probability == single.entropy == 0.0
    assert single.margin == np.inf
    assert single.arcs[1] == 1.0


def test_reliability_counts_everything_once():
    rng = np.random.default_rng(1)
    probabilities = rng.uniform(size=10_000)
    right = rng.uniform(size=10_000) < probabilities
    table = reliability([*probabilities, 1.0], [*right, True])
    assert sum(bin.predictions for bin in table) == 10_001
    assert expected_calibration_error(table) < 0.02
    assert expected_calibration_error(reliability(probabilities**3, right)) > 0.1


def corrupted(treebank, share, rng):
    """The treebank with random heads instead of some, and which these are."""
    wrong, sentences = set(), []
    for i, sentence in enumerate(treebank):
        heads = sentence.heads
        for m in range(1, len(heads)):
            if len(heads) > 2 and rng.random() < share:
                heads[m] = rng.choice([h for h in range(len(heads)) if h not in (m, heads[m])])
                wrong.add((i, m))
        sentences.append(sentence.with_tree(heads))
    return sentences, wrong


def test_wrong_heads_are_the_most_suspicious_ones(parser):
    sentences, wrong = corrupted(TEST, 0.02, np.random.default_rng(4))
    assert len(wrong) > 20
    number = {id(sentence): i for i, sentence in enumerate(sentences)}
    found = suspects(parser, sentences)
    assert len(found) == sum(map(len, TEST))
    first = {(number[id(suspect.sentence)], suspect.word) for suspect in found[: len(wrong)]}
    assert len(first & wrong) > len(wrong) / 2


def test_wrong_labels_are_the_most_suspicious_ones(parser):
    rng = np.random.default_rng(5)
    wrong, sentences = set(), []
    for i, sentence in enumerate(TEST):
        labels = ["_", *sentence.deprel]
        for m in range(1, len(labels)):
            if rng.random() < 0.02:
                labels[m] = str(rng.choice([label for label in parser.labels if label != labels[m]]))
                wrong.add((i, m))
        sentences.append(sentence.with_tree(sentence.heads, labels))
    number = {id(sentence): i for i, sentence in enumerate(sentences)}
    first = suspects(parser, sentences)[: len(wrong)]
    assert len({(number[id(one.sentence)], one.word) for one in first if one.kind == "label"} & wrong) > len(wrong) / 2
    assert {one.kind for one in suspects(parser, sentences, kinds=["head"])} == {"head"}


def test_heads_that_the_pruner_would_leave_out_are_judged(parser):
    """Else they would all have the probability 0, whatever they are; now only those have that no tree has."""
    longest = max(TEST, key=len)
    found = []
    for head in range(len(longest) + 1):
        heads = np.array([-1, *(head if head != m else 0 for m in range(1, len(longest) + 1))])
        (judged,) = parser.judge([longest.with_tree(heads)])
        found += judged.heads[1:].tolist()
    assert np.count_nonzero(found) > 0.99 * len(found)


@pytest.mark.slow
def test_cross_validation_judges_heads_with_cycles():
    usual = Sentence.of(["a", "b", "c"], upos=["A", "B", "C"]).with_tree([-1, 2, 0, 2], ["_", "x", "y", "z"])
    cyclic = usual.with_tree([-1, 3, 0, 1])
    found = cross_validated_suspects([usual] * 17 + [cyclic] + [usual] * 12, 3)
    assert {id(suspect.sentence) for suspect in found[:2]} == {id(cyclic)}


@pytest.mark.slow
def test_suspicion_by_cross_validation():
    """A word with another head than all its like: here every tree is the same but one."""
    usual = Sentence.of(["a", "b", "c"], upos=["A", "B", "C"]).with_tree([-1, 2, 0, 2], ["_", "x", "y", "z"])
    odd = usual.with_tree([-1, 3, 0, 2])
    found = cross_validated_suspects([usual] * 17 + [odd] + [usual] * 12, 3)
    assert (found[0].sentence, found[0].word) == (odd, 1)
    assert found[0].parsed_head == 2
    assert len(found) == 90


def test_a_word_without_a_head_is_bad_input(first_order):
    with pytest.raises(InputError, match="word 2 has no head"):
        suspects(first_order, [SHORT[0].with_tree([-1, 2, -1, *[1] * (len(SHORT[0]) - 2)])])
