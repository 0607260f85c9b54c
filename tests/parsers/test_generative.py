"""The generative model: probabilities and EM against enumeration; the contract of a parser."""

from __future__ import annotations

import itertools
from math import exp

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crossarc.core import CrossarcError, Sentence
from crossarc.evaluation import evaluate
from crossarc.learning.back_off import BackOff
from crossarc.learning.shards import InProcess
from crossarc.parsers import TrainingListener, load, train
from crossarc.parsers.generative.config import GenerativeConfig
from crossarc.parsers.generative.expectation import cut_treebank
from crossarc.parsers.generative.ngram import NGram, fitted_weight, mixed
from crossarc.parsers.generative.parser import (
    GO_ON,
    N_SIDES,
    STOP,
    Arcs,
    Factors,
    GenerativeParser,
    arcs_between,
    bins_of_reaches,
    log_number_of_trees,
)
from crossarc.parsers.generative.training import Maximisation, reaches
from crossarc.parsers.generative.vocabulary import collect
from crossarc.parsers.training import TrainingSetup
from crossarc.testing import random_treebank
from crossarc.trees import is_projective, is_tree
from oracles import all_labelled_trees, all_trees

pytestmark = pytest.mark.slow  # compiles much that few people use

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
    seen_bins = np.zeros_like(seen.head) if seen.bin is None else seen.bin
    for head, head_tag, direction, bin in set(
        zip(seen.head[:40], seen.head_tag[:40], seen.direction[:40], seen_bins[:40], strict=True)
    ):
        same = [np.full(len(tag_of), value) for value in (head, head_tag, direction, bin)]
        bins = None if seen.bin is None else same[3]
        arcs = Arcs(same[0], same[1], np.arange(len(tag_of)), tag_of, same[2], bins)
        assert np.exp(parser.factors.log_p(arcs, parser.symbols)).sum() == pytest.approx(1.0)
    np.testing.assert_allclose(parser.factors.p_label(seen, parser.symbols).sum(axis=1), 1.0)
    go_on, stop = parser.factors.log_stop(nodes, 1, 1)
    np.testing.assert_allclose(np.exp(go_on) + np.exp(stop), 1.0)


@pytest.mark.parametrize("symbols", ["upos", "form", "lemma", "upos+form"])
def test_choices_depend_on_the_conditions_alone(symbols):
    found = {}
    for condition in ("head", "direction", "distance"):
        model = train(TRAIN, GenerativeConfig(condition=condition, symbols=symbols, stop=False))
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


SMALL = [
    Sentence.of(forms.split(), upos=tags.split(), lemma=forms.split()).with_tree(heads)
    for forms, tags, heads in [
        ("p q p", "a b a", [-1, 0, 1, 1]),
        ("q q p", "b b a", [-1, 3, 3, 0]),
        ("p p q", "a a b", [-1, 0, 1, 2]),
        ("p", "a", [-1, 0]),
        ("q p p q p", "b a a b a", [-1, 3, 1, 0, 5, 3]),
    ]
]
CONDITIONS = ["head", "direction", "distance"]
SYMBOLS = ["upos", "form", "upos+lemma"]


def sentences_of_length(parser: GenerativeParser, n: int) -> list[Sentence]:
    """One for each string of n symbols; what was never seen is the unknown one."""
    tokens = [(parser.symbols.tags[tag] or "new", word or "new") for tag, word in parser.symbols.words]
    return [
        Sentence.of([word for _, word in chosen], upos=[tag for tag, _ in chosen], lemma=[word for _, word in chosen])
        for chosen in itertools.product(tokens, repeat=n)
    ]


def mass(parser: GenerativeParser, n: int) -> float:
    """The probability of all sentences of n words."""
    return sum(map(exp, parser.log_probabilities(sentences_of_length(parser, n))))


@pytest.mark.parametrize("projective", [False, True])
@pytest.mark.parametrize("single_root", [False, True])
@pytest.mark.parametrize("unsupervised", [False, True])
@pytest.mark.parametrize("condition", CONDITIONS)
@pytest.mark.parametrize("symbols", SYMBOLS)
def test_the_sentences_of_each_length_sum_to_one(projective, single_root, unsupervised, condition, symbols):
    config = GenerativeConfig(
        symbols=symbols, condition=condition, stop=False, projective=projective, single_root=single_root,
        unsupervised=unsupervised, epochs=3,
    )  # fmt: skip
    assert mass(train(SMALL, config), 3) == pytest.approx(1.0)


@pytest.mark.parametrize("unsupervised", [False, True])
@pytest.mark.parametrize("condition", CONDITIONS)
@pytest.mark.parametrize("symbols", SYMBOLS)
def test_the_sentences_of_all_lengths_sum_to_one(unsupervised, condition, symbols):
    """With STOP: the sums over short sentences are those of the process that writes them, which ends."""
    config = GenerativeConfig(symbols=symbols, condition=condition, unsupervised=unsupervised, epochs=3, prior=0.1)
    parser = train(20 * SMALL, config)
    by_length = masses(parser, 200)
    longest = 3 if symbols == "upos+lemma" else 4
    assert [mass(parser, n) for n in range(1, longest + 1)] == pytest.approx(by_length[1 : longest + 1])
    assert 0.99 < by_length.sum() <= 1 + 1e-9


def masses(parser: GenerativeParser, longest: int) -> np.ndarray:
    """The probability of writing a sentence of each length: a head writes its modifiers outwards, each of them whole
    before it decides whether to have another.
    """
    n = len(parser.symbols)
    tag_of = np.array([tag for tag, _ in parser.symbols.words])
    everything = parser.symbols.nodes([Sentence.of([])])._replace(symbols=np.arange(n), tags=tag_of)
    bins = bins_of_reaches(np.arange(longest + 1), parser.config.condition)
    places = [[(direction, bin) for bin in range(max(bins) + 1)] for direction in (0, 1)]
    decide = np.array([[np.exp(parser.factors.log_stop(everything, *place)) for place in side] for side in places])
    choose = np.array([[[choices(parser, h, *place) for h in range(n)] for place in side] for side in places])
    reached = np.zeros((longest + 1, 2, n))  # the probability that a head's modifiers cover so many words at some time
    reached[0] = 1.0
    side, subtree = np.zeros((longest + 1, 2, n)), np.zeros((longest + 1, n))
    for size in range(longest):
        for direction in (0, 1):
            for smaller in range(size):
                modifiers = choose[direction, bins[smaller]] @ subtree[size - smaller]
                go_on = decide[direction, bins[smaller], GO_ON]
                reached[size, direction] += reached[smaller, direction] * go_on * modifiers
            side[size, direction] = reached[size, direction] * decide[direction, bins[size], STOP]
        subtree[size + 1] = sum(side[left, 1] * side[size - left, 0] for left in range(size + 1))
    return subtree @ choices(parser, n, 0, 0)


def choices(parser: GenerativeParser, head: int, direction: int, bin: int) -> np.ndarray:
    """p(symbol | head, direction, bin of the reach)."""
    tag_of = np.array([tag for tag, _ in parser.symbols.words])
    head_tag = tag_of[head] if head < len(tag_of) else len(parser.symbols.tags)
    condition = parser.config.condition
    seen = [head, head_tag, direction if condition != "head" else 0, bin]
    same = [np.full(len(tag_of), value) for value in seen]
    bins = same[3] if condition == "distance" else None
    arcs = Arcs(same[0], same[1], np.arange(len(tag_of)), tag_of, same[2], bins)
    return np.exp(parser.factors.log_p(arcs, parser.symbols))


def test_unordered_words_make_no_sentences():
    parser = train(SMALL, GenerativeConfig(projective=False))
    with pytest.raises(CrossarcError, match="unordered words"):
        parser.log_probabilities(SMALL)


def test_reaches():
    (sentence,) = tagged("a b c d e f")
    nodes = collect("upos", [sentence]).nodes([sentence])
    heads = np.array([2, 0, 4, 2, 2, 5])  # b has a to its left, then d with c, then e with f
    before, at_end = reaches(nodes, heads, np.arange(1, 7))
    assert before.tolist() == [0, 0, 0, 0, 2, 0]
    assert at_end[1:].tolist() == [[0, 0], [4, 1], [0, 0], [0, 1], [1, 0], [0, 0]]


@pytest.mark.parametrize("projective", [False, True])
def test_trees_are_counted_into_decisions(projective):
    """One head with two modifiers to its right and none to its left, often: little is left to back-off."""
    (sentence,) = tagged("a b b")
    parser = train([sentence.with_tree([-1, 0, 1, 1])] * 5000, GenerativeConfig(projective=projective))
    nodes = parser.symbols.nodes([sentence])

    def p_stop(word, direction, reach):
        return exp(parser.factors.log_stop(nodes, direction, reach)[STOP][word])

    if projective:
        found = [p_stop(1, 0, 0), p_stop(1, 0, 1), p_stop(1, 0, 2), p_stop(1, 1, 0), p_stop(2, 0, 0), p_stop(3, 1, 0)]
        assert found == pytest.approx([0.0, 0.0, 1.0, 1.0, 1.0, 1.0], abs=0.01)
    else:
        assert [p_stop(1, 0, 0), p_stop(2, 0, 0)] == pytest.approx([1 / 3, 1.0], abs=0.01)


def arcs_of_tree(parser: GenerativeParser, sentence: Sentence, heads) -> tuple[Arcs, np.ndarray, np.ndarray]:
    """With the bins that modifiers are chosen in, and those of decisions: before each modifier, at the end."""
    nodes = parser.symbols.nodes([sentence])
    modifiers = np.arange(1, len(heads))
    arcs = arcs_between(nodes, np.array(heads[1:]), modifiers, parser.config.condition)
    if not parser.config.stop or not parser.config.projective:
        return arcs, np.zeros(len(heads), dtype=int), np.zeros((len(heads), 2), dtype=int)
    found = reaches(nodes, np.array(heads[1:]), modifiers)
    before, at_end = (bins_of_reaches(part, parser.config.condition) for part in found)
    before = np.where(np.array(heads[1:]) == 0, 0, before)
    return arcs if arcs.bin is None else arcs._replace(bin=before), np.append(0, before), at_end


def log_p_of_tree(parser: GenerativeParser, sentence: Sentence, heads, labels=None) -> float:
    """By definition: the product of all choices and decisions."""
    nodes = parser.symbols.nodes([sentence])
    arcs, before, at_end = arcs_of_tree(parser, sentence, heads)
    total = float(parser.factors.log_p(arcs, parser.symbols).sum())
    if labels is not None:
        seen = arcs_between(nodes, np.array(heads[1:]), np.arange(1, len(heads)), parser.config.condition)
        p_label = parser.factors.p_label(seen, parser.symbols)
        total += float(np.log(p_label[np.arange(len(seen.head)), list(labels[1:])]).sum())
    if not parser.config.stop:
        rule = {"single_root": bool(parser.config.single_root), "projective": parser.config.projective}
        return total - float(np.log(len(all_trees(len(sentence), **rule))))
    for word, direction, bin, decision in decisions_of_tree(parser, heads, before, at_end):
        total += float(parser.factors.log_stop(nodes, direction, bin)[decision][word])
    return total


def decisions_of_tree(parser: GenerativeParser, heads, before, at_end):
    """Word, direction, bin, decision: of all decisions of a tree."""
    projective = parser.config.projective
    for m in range(1, len(heads)):
        if heads[m]:
            yield heads[m], int(projective and m < heads[m]), before[m], GO_ON
        for direction in (0, 1) if projective else (0,):
            yield m, direction, at_end[m, direction], STOP


def trees_of(parser: GenerativeParser, n: int):
    return all_trees(n, single_root=bool(parser.config.single_root), projective=parser.config.projective)


def log_sum(parser: GenerativeParser, sentence: Sentence) -> float:
    """Over all trees; the sentence's log-probability, if it has one."""
    (found,) = parser._log_sums([sentence])
    return found


@pytest.mark.parametrize(("projective", "stop"), KINDS)
@pytest.mark.parametrize("unsupervised", [False, True])
def test_sentences_are_as_probable_as_all_their_trees(projective, stop, unsupervised):
    config = GenerativeConfig(
        projective=projective, stop=stop, unsupervised=unsupervised, epochs=2, condition="distance"
    )
    parser = train(TRAIN[:40], config)
    short = [Sentence(tuple(column[:n] for column in s.columns)) for s, n in zip(TEST, [1, 2, 3, 4, 4], strict=False)]
    for sentence in short:
        each = [log_p_of_tree(parser, sentence, heads) for heads in trees_of(parser, len(sentence))]
        assert log_sum(parser, sentence) == pytest.approx(np.logaddexp.reduce(each))
    assert log_sum(parser, Sentence.of([])) == 0.0


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


def maximisation(sentences, symbols="upos", condition="distance", **options) -> Maximisation:
    config = GenerativeConfig(unsupervised=True, symbols=symbols, condition=condition, single_root=True, **options)
    alphabet = collect(symbols, sentences)
    blank = GenerativeParser(config, ("dep",), alphabet, Factors(*[BackOff(1, ())] * 4))
    cut = cut_treebank(alphabet.nodes(sentences), config, len(alphabet))
    with InProcess().hold(cut.shards) as map_shards:
        return Maximisation(cut, map_shards, blank, TrainingSetup())


@pytest.mark.parametrize(("projective", "stop"), KINDS)
@pytest.mark.parametrize("condition", ["direction", "distance"])
@given(seeds)
@settings(max_examples=3)
def test_expected_counts_are_those_over_all_trees(projective, stop, condition, seed):
    sentences = random_sentences(seed)
    em = maximisation(sentences, projective=projective, stop=stop, condition=condition, prior=1.0)
    em.rng = np.random.default_rng(seed)
    em.counts = em.start("random")
    log_likelihood, found = em.expectation(em.counts)
    choices, stops = np.zeros_like(found.choices), np.zeros_like(found.stops)
    parser = em.result()
    total = 0.0
    for sentence in sentences:
        trees = trees_of(parser, len(sentence))
        log_p = np.array([log_p_of_tree(parser, sentence, heads) for heads in trees])
        total += np.logaddexp.reduce(log_p)
        for heads, p in zip(trees, np.exp(log_p - np.logaddexp.reduce(log_p)), strict=True):
            count_tree(em, sentence, heads, p, choices, stops)
    assert log_likelihood == pytest.approx(total)
    np.testing.assert_allclose(found.choices, choices, atol=1e-9)
    if stop:
        np.testing.assert_allclose(found.stops, stops, atol=1e-9)


def count_tree(em: Maximisation, sentence, heads, p, choices, stops) -> None:
    symbols = em.parser.symbols.nodes([sentence]).symbols
    arcs, before, at_end = arcs_of_tree(em.parser, sentence, heads)
    np.add.at(choices, place(em, arcs.head, arcs.side, arcs.modifier), p)
    for word, direction, bin, decision in decisions_of_tree(em.parser, heads, before, at_end):
        stops[symbols[word], direction, bin, decision] += p


def place(em: Maximisation, heads, sides, modifiers):
    """Of choices among all that can occur."""
    return np.searchsorted(em.choices, (heads * N_SIDES + sides) * len(em.parser.symbols) + modifiers)


@pytest.mark.parametrize("projective", [False, True])
def test_the_harmonic_start_links_near_words(projective):
    em = maximisation(tagged("a b c"), projective=projective, stop=False)
    a_to_b, a_to_c = place(em, 1, 0, 2), place(em, 1, 1, 3)  # distances of 1 and 2, to the right
    harmonic, uniform = (em.start(name).choices for name in ("harmonic", "uniform"))
    trees = all_trees(3, single_root=True, projective=projective)
    weights = np.array([np.prod([1 / abs(m - h) for m, h in enumerate(t) if h > 0]) for t in trees])
    assert uniform[a_to_c] == pytest.approx(np.mean([tree[3] == 1 for tree in trees]))
    for arc, m in ((a_to_b, 2), (a_to_c, 3)):
        assert harmonic[arc] == pytest.approx(np.average([tree[m] == 1 for tree in trees], weights=weights))


@pytest.mark.parametrize(("projective", "stop"), KINDS)
def test_shards_make_no_difference(projective, stop, monkeypatch):
    found = []
    for size in (500_000, 60):
        monkeypatch.setattr("crossarc.parsers.generative.expectation._ARCS", size)
        em = maximisation(DEV, symbols="upos+form", projective=projective, stop=stop)
        found.append((len(list(em.map_shards(len))), *em.expectation(em.counts)))
    assert found[0][0] == 1 < found[1][0]
    assert found[0][1] == pytest.approx(found[1][1])
    for whole, in_parts in zip(found[0][2], found[1][2], strict=True):
        np.testing.assert_allclose(whole, in_parts, atol=1e-12)


def test_em_over_words_goes_on_until_nothing_is_gained():
    recorder = Recorder()
    config = GenerativeConfig(unsupervised=True, symbols="upos+form", epochs=40)
    train(TRAIN, config, listener=recorder)
    (values,) = recorder.likelihoods.values()
    words = sum(map(len, TRAIN))
    assert len(values) > 5
    assert all(after - before >= 1e-5 * words for before, after in itertools.pairwise(values[:-1]))
    assert len(values) == 40 or values[-1] - values[-2] < 1e-5 * words


def test_em_over_words_keeps_nothing_for_words_that_never_meet():
    """5,000 different words in 2,500 sentences: all pairs of them would be 300 million choices."""
    sentences = tagged(*(f"a{i} b{i} a{i} b{i}" for i in range(2500)))
    em = maximisation(sentences, condition="direction")
    assert len(em.parser.symbols) == 5001
    assert len(em.choices) == 2500 * (2 + 4 + 4)  # from the root, to the right, to the left
    em.run(1)
    assert sum(tensor.nbytes for tensor in em.result().to_model()[1].values()) < 5e6


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
    em = maximisation(random_sentences(3), stop=False, epochs=200)
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
    """By definition: over all contexts that can occur, and all their outcomes."""
    strengths = {"symbol": parser.config.prior * len(parser.symbols.tags), "stop": 2 * parser.config.prior}
    total = 0.0
    for name, strength in strengths.items():
        factor = getattr(parser.factors, name)
        base, seen = factor.levels
        p = factor.given([np.zeros_like(seen.contexts), seen.contexts])
        total += strength * float((np.log(p / base.shares) @ base.shares).sum())
    return total


@pytest.mark.parametrize("symbols", ["upos", "upos+form"])
def test_the_prior_is_that_over_all_outcomes(symbols):
    em = maximisation(DEV, symbols=symbols, prior=0.7)
    em.counts = em.start("random")
    parser = em.result()
    assert em.log_prior(em.counts) == pytest.approx(log_prior_of(parser))


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


log_probabilities = st.floats(-800.0, 0.0)


@given(st.lists(st.tuples(log_probabilities, log_probabilities), min_size=1, max_size=20))
def test_the_fitted_mixture_is_at_least_as_good_as_its_parts(pairs):
    ours, theirs = zip(*pairs, strict=True)
    weight = fitted_weight(ours, theirs)
    assert 0 < weight < 1
    best = sum(mixed(ours, theirs, weight))
    others = [sum(mixed(ours, theirs, w)) for w in (0.01, 0.2, 0.5, 0.8, 0.99)]
    assert best >= max(sum(ours), sum(theirs), *others) - 1e-9 * abs(best) - 1e-9


def test_the_weight_is_found():
    """Two sentences that one model alone finds likely, one that the other does."""
    assert fitted_weight([-1.0, -2.0, -900.0], [-800.0, -900.0, -1.0]) == pytest.approx(2 / 3)


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
    if parser.config.projective:  # others hardly know what order is, or have no probabilities
        assert sum(parser.log_probabilities(TEST)) > sum(parser.log_probabilities(mixed))


def test_sentences_without_annotation_or_words_have_a_probability(parser):
    bare = [Sentence.of(sentence.form) for sentence in TEST[:5]] + [Sentence.of([])]
    assert np.isfinite([log_sum(parser, sentence) for sentence in bare]).all()


def test_the_file_gives_the_same_language_model(parser, tmp_path):
    path = tmp_path / "my.crossarc"
    parser.save(path)
    again = load(path)
    assert [log_sum(again, sentence) for sentence in TEST] == [log_sum(parser, sentence) for sentence in TEST]


def test_bad_training_is_refused():
    with pytest.raises(CrossarcError, match="none of upos"):
        GenerativeConfig(symbols="form+upos")
    with pytest.raises(CrossarcError, match="prior"):
        GenerativeConfig(prior=0.0)
    with pytest.raises(CrossarcError, match="single root"):
        GenerativeConfig(single_root=False)
