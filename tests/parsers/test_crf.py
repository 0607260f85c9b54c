"""Log-linear parsers: likelihood and gradient against enumeration and finite differences; learning."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest
from click.testing import CliRunner

from crossarc.cli import crossarc as commands
from crossarc.core import InputError
from crossarc.evaluation import evaluate
from crossarc.features.attributes import attributes_of
from crossarc.io import write
from crossarc.learning.lbfgs import maximise
from crossarc.learning.online import table_size
from crossarc.parsers import PRESETS, EpochReport, SpanningTreeConfig, TrainingListener, load, train
from crossarc.parsers.linear._crf import GRADIENT, add_gradients
from crossarc.parsers.linear._learn import LABEL_LOSS
from crossarc.parsers.linear.training import LinearTraining
from crossarc.parsers.training import TrainingSetup, Treebank, possible_trees
from crossarc.testing import random_treebank
from crossarc.trees import is_projective
from oracles import all_trees

pytestmark = pytest.mark.slow

CRF = replace(PRESETS["ms2007"], labels="joint", hash_bits=12, epochs=3, patience=0)
SHAPES = [(False, False), (True, False), (False, True), (True, True)]
TREEBANK = list(random_treebank(260, seed=11, nonprojectivity=0.3))


class Problem:
    """Random weights, and the trees of a small treebank."""

    def __init__(self, single_root, projective, labels="joint", seed=1, partial=False, augmented=False):
        config = replace(
            CRF, single_root=single_root, projective=projective, labels=labels, loss_augmented=augmented or None
        )
        short = [s for s in random_treebank(400, seed=3, nonprojectivity=0.5) if 2 <= len(s) <= 4]
        # three labels, so that all labelled trees can be listed
        short = [s.with_columns(deprel=[label[0] if label[0] in "no" else "x" for label in s.deprel]) for s in short]
        self.sentences = possible_trees(short, TrainingListener(), single_root=single_root, projective=projective)[:6]
        if partial:
            self.sentences = [half_done(sentence, i) for i, sentence in enumerate(self.sentences)]
        self.training = LinearTraining(Treebank(self.sentences), config, TrainingSetup())
        size = table_size(config.hash_bits) + self.training._label_weights()
        self.weights = np.random.default_rng(seed).normal(0, 0.3, size).astype(np.float32)
        self.parser = self.training._parser(self.training._head_stage(None).scorer(self.weights))

    def log_likelihood(self):
        """Of all sentences, and its gradient."""
        training = self.training
        slopes = np.zeros(len(self.weights), dtype=GRADIENT)
        batch, gold = training.treebank.batch, training.treebank.gold
        models = self.parser.scorer.models
        value = add_gradients(batch, models, gold, training.config.search, training.config.adds_losses, slopes)
        return value, slopes["gradient"].copy()


def half_done(sentence, number):
    """The sentence without the head and label of some words: of all words of the first one."""
    missing = [number == 0 or (word + number) % 2 == 0 for word in range(len(sentence))]
    return sentence.with_columns(
        head=["_" if gone else head for gone, head in zip(missing, sentence.head, strict=True)],
        deprel=["_" if gone else label for gone, label in zip(missing, sentence.deprel, strict=True)],
    )


def enumerated(problem, sentence):
    """log p of all trees with the gold heads and labels that are known, from the scores of all labelled trees."""
    parser, labels = problem.parser, range(len(problem.parser.labels))
    known = zip(sentence.head, sentence.deprel, strict=True)
    gold = [(int(head), parser.labels.index(label)) if head != "_" else None for head, label in known]
    arcs = parser.scores(sentence)
    batch = attributes_of([sentence])
    scores = {}
    config = problem.training.config
    for heads in all_trees(len(sentence), single_root=config.single_root, projective=config.projective):
        of_labels = parser.label_scores(batch, np.array(heads))
        for chosen in itertools.product(labels, repeat=len(sentence)):
            words = range(1, len(heads))
            scores[heads, chosen] = sum(arcs[heads[m], m] + of_labels[m, chosen[m - 1]] for m in words)
            if config.adds_losses:
                scores[heads, chosen] += sum(
                    1.0 if heads[m] != right[0] else LABEL_LOSS * (chosen[m - 1] != right[1])
                    for m, right in enumerate(gold, 1)
                    if right is not None
                )
    right = [
        score
        for (heads, chosen), score in scores.items()
        if all(own is None or own == pair for own, pair in zip(gold, zip(heads[1:], chosen, strict=True), strict=True))
    ]
    return np.logaddexp.reduce(right) - np.logaddexp.reduce(list(scores.values()))


@pytest.mark.parametrize(("single_root", "projective"), SHAPES)
def test_the_likelihood_is_that_of_all_labelled_trees(single_root, projective):
    problem = Problem(single_root, projective)
    assert len(problem.parser.labels) == 3
    expected = sum(enumerated(problem, sentence) for sentence in problem.sentences)
    assert problem.log_likelihood()[0] == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize(("single_root", "projective"), SHAPES)
def test_unknown_heads_are_summed_over(single_root, projective):
    problem = Problem(single_root, projective, partial=True)
    assert any("_" in sentence.head and set(sentence.head) != {"_"} for sentence in problem.sentences)
    expected = [enumerated(problem, sentence) for sentence in problem.sentences]
    assert expected[0] == pytest.approx(0.0, abs=1e-9)
    assert problem.log_likelihood()[0] == pytest.approx(sum(expected), rel=1e-5)


@pytest.mark.parametrize("partial", [False, True])
def test_the_softmax_margin_has_losses_added_to_scores(partial):
    problem = Problem(False, False, partial=partial, augmented=True)
    expected = sum(enumerated(problem, sentence) for sentence in problem.sentences)
    assert problem.log_likelihood()[0] == pytest.approx(expected, rel=1e-5)
    assert expected < Problem(False, False, partial=partial).log_likelihood()[0]


@pytest.mark.parametrize(("labels", "partial"), [("joint", False), ("joint", True), ("two-stage", False)])
@pytest.mark.parametrize(("single_root", "projective"), SHAPES[1:3])
def test_the_gradient_is_that_of_finite_differences(single_root, projective, labels, partial):
    problem = Problem(single_root, projective, labels, partial=partial)
    _, gradient = problem.log_likelihood()
    (touched,) = np.nonzero(gradient)
    assert len(touched) > 500
    rng = np.random.default_rng(2)
    step = np.float32(1 / 64)
    for direction in range(8):
        chosen = rng.choice(touched, 40, replace=False) if direction else touched
        change = np.zeros_like(problem.weights)
        change[chosen] = step * rng.choice([-1, 1], len(chosen)) / np.sqrt(len(chosen))
        before = problem.weights.copy()
        values = []
        for sign in (1, -1):
            problem.weights[:] = before + sign * change
            moved = (problem.weights - before).astype(float) * sign
            values.append(problem.log_likelihood()[0])
        problem.weights[:] = before
        assert values[0] - values[1] == pytest.approx(2 * float(gradient @ moved), rel=0.02, abs=2e-4)


class Losses(TrainingListener):
    def __init__(self):
        self.heads = []
        self.left_out = 0

    def end_epoch(self, report: EpochReport) -> None:
        if report.stage == "heads":
            self.heads.append(report.loss)

    def sentences_left_out(self, sentences, reason):
        self.left_out += sentences


def test_it_learns():
    trees, dev, test = TREEBANK[:200], TREEBANK[200:220], TREEBANK[220:]
    losses = Losses()
    parser = train(trees, replace(CRF, hash_bits=18), dev=dev, listener=losses)
    scores = evaluate(test, parser.trees(test)).all_words
    assert scores.uas.f1 > 0.85
    assert scores.las.f1 > 0.8
    assert losses.heads == sorted(losses.heads, reverse=True)


def test_lbfgs_climbs_to_the_top():
    losses = Losses()
    config = replace(CRF, optimizer="lbfgs", l2=1.0, epochs=60, single_root=True)
    treebank = TREEBANK[:20]
    parser = train(treebank, config, listener=losses)
    assert losses.heads == sorted(losses.heads, reverse=True)
    weights = np.concatenate([parser.scorer.heads_model.weights, parser.scorer.labels_model.weights])
    training = LinearTraining(Treebank(treebank), parser.config, TrainingSetup())
    slopes = np.zeros(len(weights), dtype=GRADIENT)
    models = parser.scorer.models
    batch, gold = training.treebank.batch, training.treebank.gold
    add_gradients(batch, models, gold, training.config.search, False, slopes)
    # at the top, the gradient of the likelihood is that of the penalty
    assert np.abs(slopes["gradient"] - weights).max() < 0.02 * np.abs(weights).max()


def test_a_climb_that_falls_is_an_error():
    values = iter([0.0, 1.0, 0.5, 0.25, 0.1])

    def crooked(point):
        return next(values), np.ones_like(point)

    with pytest.raises((ArithmeticError, StopIteration)):
        maximise(crooked, np.zeros(1), 5, lambda *_: False)


def test_a_stronger_penalty_gives_smaller_weights():
    def norm(l2):
        parser = train(TREEBANK[:50], replace(CRF, l2=l2))
        return float(np.abs(parser.scorer.heads_model.weights).sum())

    assert norm(100.0) < 0.7 * norm(0.0)


@pytest.mark.parametrize("max_candidates", [0, 5])
def test_half_annotated_sentences_help(max_candidates):
    """Where a third of the heads is unknown, what is left teaches more than the few whole trees."""
    rng = np.random.default_rng(4)
    partial = [
        s.with_columns(head=["_" if rng.random() < 1 / 3 else head for head in s.head]) for s in TREEBANK[20:150]
    ]
    config = replace(CRF, labels="two-stage", hash_bits=18, max_candidates=max_candidates)
    test = TREEBANK[200:]

    def uas(trees):
        return evaluate(test, train(trees, config).trees(test)).all_words.uas.f1

    assert uas(TREEBANK[:20] + partial) > uas(TREEBANK[:20]) + 0.02


def test_half_annotated_sentences_on_the_command_line(tmp_path):
    # In this process, so that nothing is compiled twice
    treebank, model = str(tmp_path / "train.conllu"), str(tmp_path / "my.crossarc")
    write([*TREEBANK[:20], half_done(TREEBANK[20], 1)], treebank)

    def run(*options):
        return CliRunner().invoke(commands, ["train", treebank, "-m", model, "--order", "1", "--epochs", "1", *options])

    assert run("--learner", "crf").exit_code == 0
    assert "_" not in load(model).labels
    assert "has no HEAD" in str(run().exception)


def test_other_learners_want_whole_trees():
    partial = TREEBANK[0].with_columns(head=["_", *TREEBANK[0].head[1:]])
    with pytest.raises(InputError, match="word 1 has no HEAD"):
        train([partial], SpanningTreeConfig(order="1"))


def test_known_heads_must_not_form_a_cycle():
    cycle = TREEBANK[0].with_columns(head=["2", "1", *("_" for _ in TREEBANK[0].head[2:])])
    with pytest.raises(InputError, match="the heads form a cycle: 1 → 2 → 1"):
        train([cycle], CRF)


def test_trees_without_a_probability_are_left_out_and_counted():
    losses = Losses()
    train(TREEBANK[:50], replace(CRF, projective=True, epochs=1), listener=losses)
    assert losses.left_out == sum(not is_projective(s.heads) for s in TREEBANK[:50]) > 0


def test_training_ends_when_it_does_not_get_better():
    losses = Losses()
    config = replace(CRF, epochs=30, patience=2)
    parser = train(TREEBANK[:60], config, dev=TREEBANK[60:70], listener=losses)
    assert 3 <= len(losses.heads) < 30
    assert parser.dev is not None
