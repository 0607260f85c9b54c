"""The generative model: probabilities and EM against enumeration; the contract of a parser."""

from __future__ import annotations

import itertools
from dataclasses import replace
from math import exp

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crossarc.core import CrossarcError, Sentence
from crossarc.evaluation import evaluate
from crossarc.learning.back_off import BackOff, with_prior
from crossarc.parsers import TrainingListener, load, train
from crossarc.parsers.generative.config import GenerativeConfig
from crossarc.parsers.generative.ngram import NGram
from crossarc.parsers.generative.parser import (
    GO_ON,
    N_DISTANCES,
    STOP,
    Arcs,
    Factors,
    GenerativeParser,
    arcs_between,
    log_number_of_trees,
)
from crossarc.parsers.generative.training import Counts, Maximisation
from crossarc.parsers.generative.vocabulary import collect
from crossarc.parsers.training import TrainingSetup
from crossarc.testing import random_treebank
from crossarc.trees import is_projective, is_tree
from oracles import all_labelled_trees, all_trees

TREEBANK = list(random_treebank(340, seed=11, nonprojectivity=0.2))
TRAIN, DEV, TEST = TREEBANK[:280], TREEBANK[280:300], TREEBANK[300:]
KINDS = [(projective, stop) for projective in (False, True) for stop in (False, True)]
seeds = st.integers(0, 2**32 - 1)


def tagged(*texts: str) -> list[Sentence]:
    return [Sentence.of(text.split(), upos=text.split()) for text in texts]


def random_sentences(seed: int, *, longest: int = 4) -> list[Sentence]:
    rng = np.random.default_rng(seed)
    return tagged(*(" ".join(rng.choice(["a", "b", "c"], rng.integers(1, longest + 1))) for _ in range(6)))


# --- Probabilities ---


@pytest.mark.parametrize("n", range(6))
def test_trees_are_counted(n):
    for single_root, projective in itertools.product([False, True], repeat=2):
        flags = {"single_root": single_root, "projective": projective}
        assert log_number_of_trees(n, **flags) == pytest.approx(np.log(len(all_trees(n, **flags))), abs=1e-12)


@pytest.mark.parametrize("symbols", ["upos", "form", "upos+lemma"])
@pytest.mark.parametrize("condition", ["head", "direction", "distance"])
def test_every_conditional_distribution_sums_to_one(symbols, condition):
    parser = train(TRAIN, GenerativeConfig(symbols=symbols, condition=condition))
    nodes = parser.symbols.nodes(TEST[:8])
    rng = np.random.default_rng(1)
    seen = arcs_between(nodes, rng.permutation(len(nodes.tags)), rng.permutation(len(nodes.tags)), condition)
    tag_of = np.array([tag for tag, _ in parser.symbols.words])
    for head, head_tag, direction, distance in set(
        zip(seen.head[:40], seen.head_tag[:40], seen.direction[:40], seen.distance[:40], strict=True)
    ):
        same = [np.full(len(tag_of), value) for value in (head, head_tag, direction, distance)]
        arcs = Arcs(same[0], same[1], np.arange(len(tag_of)), tag_of, same[2], same[3])
        assert np.exp(parser.factors.log_p(arcs, parser.symbols)).sum() == pytest.approx(1.0)
    np.testing.assert_allclose(parser.factors.p_label(seen, parser.symbols).sum(axis=1), 1.0)
    go_on, stop = parser.factors.log_stop(nodes, 1, 1)
    np.testing.assert_allclose(np.exp(go_on) + np.exp(stop), 1.0)


def test_choices_depend_on_the_conditions_alone():
    found = {}
    for condition in ("head", "direction", "distance"):
        model = train(TRAIN, GenerativeConfig(condition=condition))
        nodes = all_like_the_first(model.symbols.nodes([next(s for s in TEST if len(s) > 6)]), but=4)
        arcs = arcs_between(nodes, np.array([4, 4, 4]), np.array([1, 3, 5]), condition)
        found[condition] = model.factors.log_p(arcs, model.symbols).tolist()
    assert len(set(found["head"])) == 1
    assert found["direction"][0] == found["direction"][1] != found["direction"][2]
    assert len(set(found["distance"])) == 3


def all_like_the_first(nodes, *, but):
    words = (nodes.positions > 0) & (nodes.positions != but)
    return nodes._replace(
        symbols=np.where(words, nodes.symbols[1], nodes.symbols), tags=np.where(words, nodes.tags[1], nodes.tags)
    )


@pytest.mark.parametrize("projective", [False, True])
@pytest.mark.parametrize("single_root", [False, True])
@pytest.mark.parametrize("unsupervised", [False, True])
def test_the_sentences_of_each_length_sum_to_one(projective, single_root, unsupervised):
    sentences = [
        tree.with_tree(heads, ["_", "x", "y", "x"])
        for tree, heads in zip(
            tagged("a b a", "b b a", "a a b"), [[-1, 0, 1, 1], [-1, 3, 3, 0], [-1, 0, 0, 2]], strict=True
        )
    ]
    config = GenerativeConfig(
        symbols="upos", stop=False, projective=projective, single_root=single_root, unsupervised=unsupervised, epochs=3
    )
    parser = train(sentences, config)
    # a tag that was never seen is the unknown one
    every = tagged(*(" ".join(tags) for tags in itertools.product(["a", "b", "new"], repeat=3)))
    assert sum(map(exp, parser.log_probabilities(every))) == pytest.approx(1.0)


@pytest.mark.parametrize("projective", [False, True])
def test_trees_are_counted_into_decisions(projective):
    """One head with two modifiers to its right and none to its left, often: little is left to back-off."""
    (sentence,) = tagged("a b b")
    parser = train([sentence.with_tree([-1, 0, 1, 1])] * 5000, GenerativeConfig(projective=projective))
    nodes = parser.symbols.nodes([sentence])

    def p_stop(word, direction, has):
        return exp(parser.factors.log_stop(nodes, direction, has)[STOP][word])

    if projective:
        found = [p_stop(1, 0, 0), p_stop(1, 0, 1), p_stop(1, 1, 0), p_stop(2, 0, 0), p_stop(3, 1, 0)]
        assert found == pytest.approx([0.0, 0.5, 1.0, 1.0, 1.0], abs=0.01)
    else:
        assert [p_stop(1, 0, 0), p_stop(2, 0, 0)] == pytest.approx([1 / 3, 1.0], abs=0.01)


def log_p_of_tree(parser: GenerativeParser, sentence: Sentence, heads, labels=None) -> float:
    """By definition: the product of all choices and decisions."""
    nodes = parser.symbols.nodes([sentence])
    modifiers = np.arange(1, len(heads))
    arcs = arcs_between(nodes, np.array(heads[1:]), modifiers, parser.config.condition)
    total = float(parser.factors.log_p(arcs, parser.symbols).sum())
    if labels is not None:
        p_label = parser.factors.p_label(arcs, parser.symbols)
        total += float(np.log(p_label[np.arange(len(modifiers)), list(labels[1:])]).sum())
    if not parser.config.stop:
        rule = {"single_root": bool(parser.config.single_root), "projective": parser.config.projective}
        return total - float(np.log(len(all_trees(len(sentence), **rule))))
    for word in modifiers:
        for direction in (0, 1) if parser.config.projective else (0,):
            children = sum(
                heads[m] == word and (not parser.config.projective or (m < word) == direction) for m in modifiers
            )
            decisions = [GO_ON] * children + [STOP]
            for k, decision in enumerate(decisions):
                has = int(k > 0) if parser.config.projective else 0
                total += float(parser.factors.log_stop(nodes, direction, has)[decision][word])
    return total


def trees_of(parser: GenerativeParser, n: int):
    return all_trees(n, single_root=bool(parser.config.single_root), projective=parser.config.projective)


@pytest.mark.parametrize(("projective", "stop"), KINDS)
@pytest.mark.parametrize("unsupervised", [False, True])
def test_sentences_are_as_probable_as_all_their_trees(projective, stop, unsupervised):
    config = GenerativeConfig(projective=projective, stop=stop, unsupervised=unsupervised, epochs=2)
    parser = train(TRAIN[:40], config)
    short = [Sentence(tuple(column[:n] for column in s.columns)) for s, n in zip(TEST, [1, 2, 3, 4, 4], strict=False)]
    for sentence, log_p in zip(short, parser.log_probabilities(short), strict=True):
        each = [log_p_of_tree(parser, sentence, heads) for heads in trees_of(parser, len(sentence))]
        assert log_p == pytest.approx(np.logaddexp.reduce(each))
    assert list(parser.log_probabilities([Sentence.of([])])) == [0.0]


@pytest.mark.parametrize(("projective", "stop"), KINDS)
def test_the_tree_has_the_most_arcs_that_are_expected_to_be_right(projective, stop):
    treebank = [
        s.with_tree(s.heads, ["_", *("x" if m < h else "y" for m, h in enumerate(s.heads[1:].tolist(), 1))])
        for s in TRAIN[:40]
    ]
    parser = train(treebank, GenerativeConfig(projective=projective, stop=stop))
    sentence = Sentence(tuple(column[:3] for column in TEST[1].columns))
    probability = {
        tree: exp(log_p_of_tree(parser, sentence, *tree))
        for tree in all_labelled_trees(3, 2, single_root=bool(parser.config.single_root), projective=projective)
    }

    def expected_right(tree):
        return sum(
            p * sum(one == two for one, two in zip(zip(*tree, strict=True), zip(*other, strict=True), strict=True))
            for other, p in probability.items()
        )

    parsed = parser.parse_sentence(sentence)
    found = tuple(parsed.heads.tolist()), (-1, *map(parser.labels.index, parsed.deprel))
    assert expected_right(found) == pytest.approx(max(map(expected_right, probability)))


# --- EM ---


def maximisation(sentences, **options) -> tuple[Maximisation, GenerativeConfig]:
    config = GenerativeConfig(unsupervised=True, symbols="upos", condition="distance", single_root=True, **options)
    symbols = collect("upos", sentences)
    blank = GenerativeParser(config, ("dep",), symbols, Factors(*[BackOff(1, ())] * 4))
    return Maximisation(symbols.nodes(sentences), blank, TrainingSetup()), config


@pytest.mark.parametrize(("projective", "stop"), KINDS)
@given(seeds)
@settings(max_examples=5)
def test_expected_counts_are_those_over_all_trees(projective, stop, seed):
    sentences = random_sentences(seed)
    em, config = maximisation(sentences, projective=projective, stop=stop)
    em.rng = np.random.default_rng(seed)
    counts = em.start("random")
    found = em.maximisation(em.expectation(counts))
    choices, stops = np.zeros_like(found.choices), np.zeros_like(found.stops)
    parser = parser_with(counts, sentences, config)
    for sentence in sentences:
        trees = trees_of(parser, len(sentence))
        log_p = np.array([log_p_of_tree(parser, sentence, heads) for heads in trees])
        for heads, p in zip(trees, np.exp(log_p - np.logaddexp.reduce(log_p)), strict=True):
            count_tree(parser, sentence, heads, p, choices, stops)
    np.testing.assert_allclose(found.choices, choices, atol=1e-9)
    if stop:
        np.testing.assert_allclose(found.stops, stops, atol=1e-9)


def parser_with(counts: Counts, sentences, config) -> GenerativeParser:
    """A model from EM that has these counts."""
    blank = train(sentences, replace(config, epochs=1))
    stops = with_prior(counts.stops.reshape(-1, 2), config.prior)
    return replace(blank, factors=blank.factors._replace(symbol=with_prior(counts.choices, config.prior), stop=stops))


def count_tree(parser, sentence, heads, p, choices, stops) -> None:
    nodes = parser.symbols.nodes([sentence])
    modifiers = np.arange(1, len(heads))
    arcs = arcs_between(nodes, np.array(heads[1:]), modifiers, parser.config.condition)
    np.add.at(choices, (arcs.head * N_DISTANCES + arcs.distance, arcs.modifier), p)
    for word in modifiers:
        symbol = nodes.symbols[word]
        if not parser.config.projective:
            stops[symbol, 0, 0, GO_ON] += p * heads.count(word)
            stops[symbol, 0, 0, STOP] += p
            continue
        for direction in (0, 1):
            children = sum(heads[m] == word and (m < word) == direction for m in modifiers)
            for k in range(children):
                stops[symbol, direction, int(k > 0), GO_ON] += p
            stops[symbol, direction, int(children > 0), STOP] += p


@pytest.mark.parametrize("projective", [False, True])
def test_the_harmonic_start_links_near_words(projective):
    em, _ = maximisation(tagged("a b c"), projective=projective, stop=False)
    a_to_b, a_to_c = ((1 * N_DISTANCES, 2), (1 * N_DISTANCES + 1, 3))  # distances of 1 and 2, to the right
    harmonic, uniform = (em.start(name).choices for name in ("harmonic", "uniform"))
    trees = all_trees(3, single_root=True, projective=projective)
    weights = np.array([np.prod([1 / abs(m - h) for m, h in enumerate(t) if h > 0]) for t in trees])
    assert uniform[a_to_c] == pytest.approx(np.mean([tree[3] == 1 for tree in trees]))
    for arc, m in ((a_to_b, 2), (a_to_c, 3)):
        assert harmonic[arc] == pytest.approx(np.average([tree[m] == 1 for tree in trees], weights=weights))


class Recorder(TrainingListener):
    def __init__(self) -> None:
        self.likelihoods: dict[str, list[float]] = {}

    def end_epoch(self, report) -> None:
        self.likelihoods.setdefault(report.stage, []).append(report.log_likelihood)


@pytest.mark.parametrize(("projective", "stop"), KINDS)
@given(seeds, st.sampled_from([1e-6, 0.1, 2.0]), st.sampled_from(["head", "direction", "distance"]))
@settings(max_examples=8)
def test_the_likelihood_never_falls(projective, stop, seed, prior, condition):
    recorder = Recorder()
    config = GenerativeConfig(
        unsupervised=True, projective=projective, stop=stop, seed=seed, prior=prior, condition=condition,
        start="random", restarts=1, epochs=30,
    )  # fmt: skip
    train(random_sentences(seed, longest=7), config, listener=recorder)
    assert set(recorder.likelihoods) == {"em 1", "em 2"}
    for values in recorder.likelihoods.values():
        assert all(after >= before - 1e-9 * abs(before) for before, after in itertools.pairwise(values))
        assert values[-1] > values[0]


def test_a_likelihood_that_falls_is_an_error(monkeypatch):
    em, _ = maximisation(random_sentences(3), stop=False, epochs=200)
    start = em.start("harmonic")
    while not em.has_converged():
        em.run(1)
    em.progress[3] = 0.0
    em.counts.choices[...] = start.choices[::-1]
    with pytest.raises(CrossarcError, match="log-likelihood fell"):
        em.run(1)


def test_em_keeps_the_best_start_and_repeats_for_a_seed():
    config = GenerativeConfig(unsupervised=True, start="random", restarts=3, epochs=5)
    recorder = Recorder()
    parser = train(DEV, config, listener=recorder)
    best = max(values[-1] for values in recorder.likelihoods.values())
    alone = Recorder()
    again = train(DEV, config, listener=alone)
    assert alone.likelihoods == recorder.likelihoods
    assert list(again.trees(DEV)) == list(parser.trees(DEV))
    assert sum(parser.log_probabilities(DEV)) + log_prior_of(parser) >= best


def log_prior_of(parser) -> float:
    symbol, stop = parser.factors.symbol, parser.factors.stop
    n = (len(parser.symbols) + 1) * N_DISTANCES
    tables = [symbol.given([np.arange(n)]), stop.given([np.arange(4 * (len(parser.symbols) + 1))])]
    return parser.config.prior * sum(float(np.log(table).sum()) for table in tables)


def test_em_does_not_look_at_heads():
    bare = [sentence.with_columns(head=["_"] * len(sentence), deprel=["_"] * len(sentence)) for sentence in DEV]
    config = GenerativeConfig(unsupervised=True, epochs=3)
    trees = [list(train(treebank, config).trees(bare)) for treebank in (DEV, bare)]
    assert trees[0] == trees[1]
    assert all(is_tree(tree.heads) and set(tree.deprel) == {"dep"} for tree in trees[0])


# --- The n-gram model ---


@pytest.mark.parametrize("order", [1, 3])
def test_the_ngram_model_is_one_of_the_sentences_of_each_length(order):
    model = NGram([[0, 1], [1, 1, 0], []], 3, order=order, ends=False)
    every = itertools.product(range(3), repeat=3)
    assert sum(exp(model.log_probability(sentence)) for sentence in every) == pytest.approx(1.0)
    ending = NGram([[0, 1], [1, 1, 0], []], 2, order=order, ends=True)
    total = sum(exp(ending.log_probability(s)) for n in range(9) for s in itertools.product(range(2), repeat=n))
    assert 0.8 < total < 1.0


# --- Trained models; the rest of the contract is in test_parser_contract.py ---

CONFIGS = {
    "default": GenerativeConfig(),
    "McDonald & Satta": GenerativeConfig(projective=False, stop=False),
    "unordered": GenerativeConfig(projective=False),
    "unsupervised": GenerativeConfig(unsupervised=True, epochs=10, prior=1.0),
}


@pytest.fixture(scope="module", params=CONFIGS)
def parser(request) -> GenerativeParser:
    return train(TRAIN, CONFIGS[request.param], dev=DEV)


def test_it_learns(parser):
    scores = evaluate(TEST, parser.trees(TEST)).all_words
    assert scores.uas.f1 > (0.3 if parser.config.unsupervised else 0.5)
    assert parser.dev.uas > 0.3
    assert all(not parser.config.projective or is_projective(tree.heads) for tree in parser.trees(TEST))


def test_it_is_a_better_language_model_of_its_own_language(parser):
    mixed = [s.with_columns(**{c: getattr(s, c)[::-1] for c in ("form", "upos")}) for s in TEST]
    if parser.config.projective:  # others hardly know what order is
        assert sum(parser.log_probabilities(TEST)) > sum(parser.log_probabilities(mixed))


def test_sentences_without_annotation_or_words_have_a_probability(parser):
    bare = [Sentence.of(sentence.form) for sentence in TEST[:5]] + [Sentence.of([])]
    assert np.isfinite(list(parser.log_probabilities(bare))).all()


def test_the_file_gives_the_same_language_model(parser, tmp_path):
    path = tmp_path / "my.crossarc"
    parser.save(path)
    assert list(load(path).log_probabilities(TEST)) == list(parser.log_probabilities(TEST))


def test_bad_training_is_refused():
    with pytest.raises(CrossarcError, match="none of upos"):
        GenerativeConfig(symbols="form+upos")
    with pytest.raises(CrossarcError, match="prior"):
        GenerativeConfig(prior=0.0)
    with pytest.raises(CrossarcError, match="single root"):
        GenerativeConfig(single_root=False)
