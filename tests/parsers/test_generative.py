"""The generative model: probabilities and EM against enumeration; the contract of a parser."""

from __future__ import annotations

import itertools
from dataclasses import replace
from math import exp

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crossarc.core import Constraints, CrossarcError, NoTreeError, Sentence, UnsupportedConstraint
from crossarc.evaluation import evaluate
from crossarc.learning.back_off import with_prior
from crossarc.parsers import ModelError, TrainingListener, load, read_header, train
from crossarc.parsers.generative.config import GenerativeConfig
from crossarc.parsers.generative.ngram import NGram
from crossarc.parsers.generative.parser import (
    GO_ON,
    N_DISTANCES,
    STOP,
    Arcs,
    GenerativeParser,
    arcs_between,
    log_number_of_trees,
)
from crossarc.parsers.generative.training import Counts, Maximisation, train_generative
from crossarc.parsers.generative.vocabulary import collect
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
    parser = train_generative(TRAIN, GenerativeConfig(symbols=symbols, condition=condition))
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
        model = train_generative(TRAIN, GenerativeConfig(condition=condition))
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
    parser = train_generative(sentences, config)
    # a tag that was never seen is the unknown one
    every = tagged(*(" ".join(tags) for tags in itertools.product(["a", "b", "new"], repeat=3)))
    assert sum(map(exp, parser.log_probabilities(every))) == pytest.approx(1.0)


@pytest.mark.parametrize("projective", [False, True])
def test_trees_are_counted_into_decisions(projective):
    """One head with two modifiers to its right and none to its left, often: little is left to back-off."""
    (sentence,) = tagged("a b b")
    parser = train_generative([sentence.with_tree([-1, 0, 1, 1])] * 5000, GenerativeConfig(projective=projective))
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
    parser = train_generative(TRAIN[:40], config)
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
    parser = train_generative(treebank, GenerativeConfig(projective=projective, stop=stop))
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
    return Maximisation(symbols.nodes(sentences), len(symbols), config), config


@pytest.mark.parametrize(("projective", "stop"), KINDS)
@given(seeds)
@settings(max_examples=5)
def test_expected_counts_are_those_over_all_trees(projective, stop, seed):
    sentences = random_sentences(seed)
    em, config = maximisation(sentences, projective=projective, stop=stop)
    counts = em.start("random", np.random.default_rng(seed))
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
    blank = train_generative(sentences, replace(config, epochs=1))
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
    harmonic, uniform = (em.start(name, np.random.default_rng(1)).choices for name in ("harmonic", "uniform"))
    trees = all_trees(3, single_root=True, projective=projective)
    weights = np.array([np.prod([1 / abs(m - h) for m, h in enumerate(t) if h > 0]) for t in trees])
    assert uniform[a_to_c] == pytest.approx(np.mean([tree[3] == 1 for tree in trees]))
    for arc, m in ((a_to_b, 2), (a_to_c, 3)):
        assert harmonic[arc] == pytest.approx(np.average([tree[m] == 1 for tree in trees], weights=weights))


class Recorder(TrainingListener):
    def __init__(self) -> None:
        self.likelihoods: dict[int, list[float]] = {}

    def likelihood(self, start, iteration, log_likelihood, sentences_per_second) -> None:
        self.likelihoods.setdefault(start, []).append(log_likelihood)


@pytest.mark.parametrize(("projective", "stop"), KINDS)
@given(seeds, st.sampled_from([1e-6, 0.1, 2.0]), st.sampled_from(["head", "direction", "distance"]))
@settings(max_examples=8)
def test_the_likelihood_never_falls(projective, stop, seed, prior, condition):
    recorder = Recorder()
    config = GenerativeConfig(
        unsupervised=True, projective=projective, stop=stop, seed=seed, prior=prior, condition=condition,
        start="random", restarts=1, epochs=30,
    )  # fmt: skip
    train_generative(random_sentences(seed, longest=7), config, listener=recorder)
    assert set(recorder.likelihoods) == {1, 2}
    for values in recorder.likelihoods.values():
        assert all(after >= before - 1e-9 * abs(before) for before, after in itertools.pairwise(values))
        assert values[-1] > values[0]


def test_a_likelihood_that_falls_is_an_error(monkeypatch):
    em, _ = maximisation(random_sentences(3), stop=False)
    start = em.start("harmonic", np.random.default_rng(1))
    good, _ = em.run(start, 1, TrainingListener())
    monkeypatch.setattr(Maximisation, "maximisation", lambda self, found: start._replace(choices=start.choices[::-1]))
    with pytest.raises(CrossarcError, match="log-likelihood fell"):
        em.run(good, 1, TrainingListener())


def test_em_keeps_the_best_start_and_repeats_for_a_seed():
    config = GenerativeConfig(unsupervised=True, start="random", restarts=3, epochs=5)
    recorder = Recorder()
    parser = train_generative(DEV, config, listener=recorder)
    best = max(values[-1] for values in recorder.likelihoods.values())
    alone = Recorder()
    again = train_generative(DEV, config, listener=alone)
    assert alone.likelihoods == recorder.likelihoods
    assert list(again.parse(DEV)) == list(parser.parse(DEV))
    assert sum(parser.log_probabilities(DEV)) + log_prior_of(parser) >= best


def log_prior_of(parser) -> float:
    symbol, stop = parser.factors.symbol, parser.factors.stop
    n = (len(parser.symbols) + 1) * N_DISTANCES
    tables = [symbol.given([np.arange(n)]), stop.given([np.arange(4 * (len(parser.symbols) + 1))])]
    return parser.config.prior * sum(float(np.log(table).sum()) for table in tables)


def test_em_does_not_look_at_heads():
    bare = [sentence.with_columns(head=["_"] * len(sentence), deprel=["_"] * len(sentence)) for sentence in DEV]
    config = GenerativeConfig(unsupervised=True, epochs=3)
    trees = [list(train_generative(treebank, config).parse(bare)) for treebank in (DEV, bare)]
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


# --- The contract of a parser ---

CONFIGS = {
    "default": GenerativeConfig(),
    "McDonald & Satta": GenerativeConfig(projective=False, stop=False),
    "unordered": GenerativeConfig(projective=False),
    "unsupervised": GenerativeConfig(unsupervised=True, epochs=10, prior=1.0),
}


@pytest.fixture(scope="module", params=CONFIGS)
def parser(request) -> GenerativeParser:
    trained = train(TRAIN, CONFIGS[request.param], dev=DEV)
    assert isinstance(trained, GenerativeParser)
    return trained


def test_it_learns(parser):
    scores = evaluate(TEST, parser.parse(TEST)).all_words
    assert scores.uas.f1 > (0.3 if parser.config.unsupervised else 0.5)
    assert parser.dev is not None
    assert parser.dev.uas > 0.3


def test_it_is_a_better_language_model_of_its_own_language(parser):
    mixed = [s.with_columns(**{c: getattr(s, c)[::-1] for c in ("form", "upos")}) for s in TEST]
    if parser.config.projective:  # others hardly know what order is
        assert sum(parser.log_probabilities(TEST)) > sum(parser.log_probabilities(mixed))


def test_training_repeats(parser):
    again = train_generative(TRAIN, parser.config, dev=DEV)
    assert list(again.parse(TEST)) == list(parser.parse(TEST))


def test_a_sentence_is_parsed_the_same_in_any_company(parser):
    together = list(parser.parse(TEST))
    assert [parser.parse_sentence(sentence) for sentence in reversed(TEST)][::-1] == together


def test_only_head_and_label_change(parser):
    for before, after in zip(TEST, parser.parse(TEST), strict=True):
        assert after.with_columns(head=before.head, deprel=before.deprel) == before
        assert is_tree(after.heads)
        assert not parser.config.projective or is_projective(after.heads)


def test_missing_annotation_and_no_words_are_fine(parser):
    bare = [Sentence.of(sentence.form) for sentence in TEST[:5]] + [Sentence.of([])]
    assert all(is_tree(parsed.heads) for parsed in parser.parse(bare))
    assert np.isfinite(list(parser.log_probabilities(bare))).all()


def test_the_file_gives_the_same_parser(parser, tmp_path):
    path = tmp_path / "my.crossarc"
    parser.save(path)
    loaded = load(path)
    assert isinstance(loaded, GenerativeParser)
    assert list(loaded.parse(TEST)) == list(parser.parse(TEST))
    assert list(loaded.log_probabilities(TEST)) == list(parser.log_probabilities(TEST))
    assert (loaded.config, loaded.labels, loaded.dev) == (parser.config, parser.labels, parser.dev)
    assert read_header(path)["system"] == "generative"
    path.write_bytes(path.read_bytes()[:1000])
    with pytest.raises(ModelError, match="truncated"):
        load(path)


def test_required_and_forbidden_arcs_are_honoured(parser):
    sentence = next(s for s in TEST if len(s) == 8)
    heads = parser.parse_sentence(sentence).heads
    for m in range(1, len(heads)):
        without = parser.parse_sentence(sentence, Constraints(forbidden_arcs=frozenset({(int(heads[m]), m)})))
        assert without.heads[m] != heads[m]
        head = 1 if m > 1 else 3
        required = parser.parse_sentence(sentence, Constraints(required_arcs=frozenset({(head, m)})))
        assert required.heads[m] == head
        assert is_tree(required.heads)


def test_labels_can_be_required(parser):
    for label, name in enumerate(parser.labels[:3]):
        parsed = parser.parse_sentence(TEST[0], Constraints(required_labels={2: label}))
        assert parsed.deprel[1] == name
    every = frozenset((1, label) for label in range(len(parser.labels)))
    with pytest.raises(NoTreeError):
        parser.parse_sentence(TEST[0], Constraints(forbidden_labels=every))


def test_projective_trees_can_be_asked_for(parser):
    for sentence in TEST[:10]:
        assert is_projective(parser.parse_sentence(sentence, Constraints(projective=True)).heads)


def test_constraints_that_cannot_be_honoured_are_refused(parser):
    with pytest.raises(UnsupportedConstraint):
        parser.parse_sentence(TEST[0], Constraints(max_children={1: 0}))
    with pytest.raises(UnsupportedConstraint):
        parser.parse_sentence(TEST[0], Constraints(max_degree=1))
    with pytest.raises(NoTreeError):
        parser.parse_sentence(TEST[0], Constraints(required_arcs=frozenset({(1, 2), (2, 1)})))


def test_bad_training_is_refused():
    with pytest.raises(CrossarcError, match="empty treebank"):
        train_generative([])
    with pytest.raises(CrossarcError, match="none of upos"):
        GenerativeConfig(symbols="form+upos")
    with pytest.raises(CrossarcError, match="prior"):
        GenerativeConfig(prior=0.0)
    with pytest.raises(CrossarcError, match="single root"):
        train_generative(TRAIN, GenerativeConfig(single_root=False))
