"""Kinds of integer-program parsers: parts that cross, projective programs, joint labels, against enumeration."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest

import oracles
from commands import run
from crossarc import read, write
from crossarc.core import Constraints, CrossarcError, Sentence
from crossarc.features.attributes import attributes_of
from crossarc.ilp import Children, Indicators, indicators_of, score_of
from crossarc.parsers import IlpConfig, IlpParser, ParseOptions, TrainingListener, train
from crossarc.parsers.ilp import training as ilp_training
from crossarc.parsers.linear._parse import labels_of_arcs, score_sentence
from crossarc.parsers.linear.integer_program import program_parts, solve_sentence
from crossarc.parsers.training import TrainingSetup, Treebank
from crossarc.testing import random_treebank
from crossarc.trees import crossing_arcs, is_projective

pytestmark = pytest.mark.slow  # compiles much that few people use

TREEBANK = list(random_treebank(90, seed=11, nonprojectivity=0.3))
TRAIN, TEST = TREEBANK[:60], TREEBANK[60:]
SMALL = {"epochs": 1, "hash_bits": 18, "max_candidates": 60, "pruning_margin": 1e9}  # every head is a candidate
CONFIGS = {
    "crossing": IlpConfig(parts="arc,grandparent,valency,nonprojective,crossing", **SMALL),
    "projective": IlpConfig(projective=True, **SMALL),
    "joint labels": IlpConfig(parts="arc,sibling,next-sibling", labels="joint", **SMALL),
}


class LeftOut(TrainingListener):
    """How many sentences were left out."""

    sentences = 0

    def sentences_left_out(self, sentences, reason):
        self.sentences += sentences


@pytest.fixture(scope="module", params=CONFIGS)
def parser(request):
    return train(TRAIN, CONFIGS[request.param])


def beginning(sentence, words):
    """The first words of a sentence."""
    columns = {name: list(getattr(sentence, name)[:words]) for name in ("lemma", "upos", "xpos", "feats")}
    return Sentence.of(list(sentence.form[:words]), **columns)


def scores_of(parser, sentence, constraints=None):
    linear = parser.linear
    allowed = linear.allowed(len(sentence) + 1, constraints or Constraints())
    shape = linear.search_for(Constraints()).shape
    return score_sentence(attributes_of([sentence]), linear.scorer.models, allowed, shape)


def labelled_scores(parser, sentence):
    """``[h, m, l]`` of each labelled arc: what the arc scores where no other label is allowed."""
    n = len(sentence)
    scores = np.full((n + 1, n + 1, len(parser.labels)), -np.inf)
    for m, label in itertools.product(range(1, n + 1), range(len(parser.labels))):
        found = scores_of(parser, sentence, Constraints(required_labels={m: label}))
        scores[found.candidates[m, : found.counts[m]], m, label] = found.arcs[m, : found.counts[m]]
    return scores


def test_the_exact_tree_is_that_of_enumeration(parser):
    """The best tree by all parts; relaxed programs bound it."""
    shape = {"single_root": parser.config.single_root, "projective": parser.config.projective}
    for sentence in (beginning(sentence, 5) for sentence in TEST[:8]):
        parts = program_parts(scores_of(parser, sentence), parser.config.kinds)
        best = max(score_of(parts, heads) for heads in oracles.all_trees(len(sentence), **shape))
        (exact,) = parser.parse([sentence], ParseOptions(exact=True, time_limit=1000.0))
        assert exact.status == "optimal"
        assert exact.score == pytest.approx(best)
        assert score_of(parts, exact.sentence.heads) == pytest.approx(best)
        relaxed = solve_sentence(parser.linear, sentence, kinds=parser.config.kinds, exact=False)
        assert relaxed.solution.bound >= best - 1e-6


@pytest.mark.parametrize("name", CONFIGS)
def test_after_an_update_the_gold_tree_beats_the_solution_by_its_loss(name, monkeypatch):
    """The features of parts and labels, gold and found, are those that the scores are made of."""
    config = replace(CONFIGS[name], aggressiveness=np.inf, single_root=True)
    treebank = [sentence for sentence in TRAIN if not config.projective or is_projective(sentence.heads)][:20]
    updates, update = [], ilp_training.ilp_update
    training = ilp_training._Training(Treebank(treebank), config, TrainingSetup())
    pruner = train(treebank, config).linear.scorer.pruner
    scorer = training._head_stage(pruner).scorer(training.learner.weights)
    learning = IlpParser(config, training._parser(scorer))
    monkeypatch.setattr(ilp_training, "ilp_update", lambda *given: updates.append(given) or update(*given))
    for number in [*range(20), *range(20)]:
        training._learn_from(number, scorer.models)
        scored, _, parts, difference, _, loss, _ = updates[-1]
        gold = indicators_of(parts, scored.heads)
        found = Indicators(*(a - b for a, b in zip(gold, difference, strict=True)))
        new = program_parts(scores_of(learning, treebank[number]), config.kinds)
        margin = total(new, gold) - total(new, found)
        if config.labels == "joint":
            margin += label_margin(learning, treebank[number], scored, gold.arcs, found.arcs)
        assert margin >= loss - 1e-2
    assert sum(given[5] > 0.5 for given in updates) > 15


def total(parts, indicators):
    """The score of a solution, perhaps a fractional one."""
    pairs = (getattr(parts, kind).scores for kind in ("siblings", "grandparents", "next_siblings"))
    scores = (parts.arcs, *pairs, parts.valencies, parts.nonprojective, parts.crossing)
    return sum(float((a * b).sum()) for a, b in zip(scores, indicators, strict=True))


def label_margin(parser, sentence, scored, in_gold, in_found):
    """How much better the gold labels are than the labels that were found, each compared with the best of its arc."""
    linear, scores = parser.linear, scores_of(parser, sentence)
    allowed = linear.allowed(len(sentence) + 1, Constraints())
    batch, models = attributes_of([sentence]), linear.scorer.models
    worse = labels_of_arcs(batch, scores, models, allowed, scored.heads.copy())
    words, choices = np.nonzero(np.arange(scores.labels.shape[1]) < scores.counts[:, np.newaxis])
    every = np.arange(len(words))
    of_gold, of_found = worse[every, scored.labels[words]], worse[every, scored.parts.labels[words, choices]]
    return float(in_gold @ of_gold - in_found @ of_found)


def test_joint_labels_are_those_of_enumeration():
    """With a rule about labels, too: arcs and labels are chosen together."""
    parser = train(TRAIN, CONFIGS["joint labels"])
    for sentence in (beginning(sentence, 3) for sentence in TEST[:3]):
        trees = labelled_trees(parser, sentence)
        (found,) = parser.parse([sentence], ParseOptions(exact=True, time_limit=1000.0))
        best = max(trees.values())
        assert found.score == pytest.approx(best, abs=1e-4)
        assert trees[found.sentence.head, found.sentence.deprel] == pytest.approx(best, abs=1e-4)
        unwanted = set(found.sentence.deprel[:2])
        rule = Children(most=0, labels=frozenset(map(parser.labels.index, unwanted)))
        ruled = solve_sentence(parser.linear, sentence, kinds=parser.config.kinds, rules=[rule])
        best = max(score for (_, labels), score in trees.items() if not unwanted & set(labels))
        assert ruled.solution.tree.score == pytest.approx(best, abs=1e-4)
        assert trees[ruled.sentence.head, ruled.sentence.deprel] == pytest.approx(best, abs=1e-4)
        assert not unwanted & set(ruled.sentence.deprel)


def labelled_trees(parser, sentence):
    """The scores of all labelled trees of a sentence, by its columns."""
    scores, single_root = labelled_scores(parser, sentence), bool(parser.config.single_root)
    parts = program_parts(scores_of(parser, sentence), parser.config.kinds)
    others, trees = parts._replace(arcs=np.zeros(len(parts.arcs))), {}
    for heads in oracles.all_trees(len(sentence), single_root=single_root):
        own = score_of(others, heads)
        of_labels = [scores[head, m].tolist() for m, head in enumerate(heads) if m]
        for labels in itertools.product(range(len(parser.labels)), repeat=len(sentence)):
            total = own + sum(of_word[label] for of_word, label in zip(of_labels, labels, strict=True))
            trees[tuple(map(str, heads[1:])), tuple(parser.labels[label] for label in labels)] = total
    return trees


def test_a_projective_model_learns_from_projective_trees_and_finds_no_others():
    listener = LeftOut()
    parser = train(TRAIN, CONFIGS["projective"], listener=listener)
    assert listener.sentences == sum(not is_projective(sentence.heads) for sentence in TRAIN) > 0
    assert not parser.config.kinds & {"nonprojective", "crossing"}
    for options in (ParseOptions(), ParseOptions(exact=True)):
        assert all(is_projective(tree.heads) for tree in parser.trees(TEST[:10], options))
    with pytest.raises(CrossarcError, match="no projective tree has parts of these kinds"):
        IlpConfig(projective=True, parts="arc,crossing")


def test_without_labels_only_heads_are_learnt():
    parser = train(TRAIN[:20], replace(CONFIGS["projective"], parts="arc", labels="none"))
    assert {label for tree in parser.trees(TEST[:3]) for label in tree.deprel} == {"_"}


@pytest.mark.parametrize(
    "options", [["--parts", "arc,crossing"], ["--projective"], ["--labels", "joint"]], ids=lambda options: options[0]
)
def test_on_the_command_line(tmp_path, options):
    treebank, model, parsed = tmp_path / "train.conllu", tmp_path / "my.crossarc", tmp_path / "parsed.conllu"
    write(TRAIN[:15], treebank)
    small = ["--epochs", 1, "--hash-bits", 16]
    trained = run("train", treebank, "-m", model, "--system", "ilp", *small, *options)
    assert trained.returncode == 0, trained.stderr.decode()
    assert ("sentences are not learnt from" in trained.stderr.decode()) == (options == ["--projective"])
    assert run("parse", treebank, "-m", model, "-o", parsed).returncode == 0
    trees = list(read(parsed))
    assert len(trees) == 15
    assert options != ["--projective"] or not any(len(crossing_arcs(tree.heads)) for tree in trees)
