"""The incremental parser: its graph and oracle against slow definitions; the contract of a parser."""

from __future__ import annotations

import itertools
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crossarc.core import Constraints, CrossarcError, InputError, NoTreeError, Sentence, UnsupportedConstraint
from crossarc.evaluation import evaluate
from crossarc.parsers import ModelError, Watcher, read_header
from crossarc.parsers._covington_graph import (
    LEFT_ARC,
    NO_ARC,
    NO_LIMIT,
    RIGHT_ARC,
    add_arc,
    begin_word,
    degree_of_link,
    is_done,
    may_add,
    new_graph,
    pass_over,
    permissible,
)
from crossarc.parsers._covington_training import loses_nothing
from crossarc.parsers.covington import CovingtonConfig, CovingtonParser, Linear
from crossarc.parsers.covington_features import load_features, parse_features
from crossarc.parsers.covington_training import train_covington
from crossarc.testing import random_tree, random_treebank
from crossarc.trees import is_projective, is_tree
from crossarc.trees.shape import degree
from oracles import all_trees, dominates

DEGREES = (0, 1, 2, None)
seeds = st.integers(0, 2**32 - 1)


def empty_graph(n: int, *, single_root: bool = False):
    return new_graph(np.full(n + 1, -1), np.ones((0, 0), dtype=np.bool_), single_root)


def take(graph, action, i, j):
    if action == RIGHT_ARC:
        add_arc(graph, i, j)
    elif action == LEFT_ARC:
        add_arc(graph, j, i)


def possible_actions(graph, i, j):
    return [NO_ARC] + [LEFT_ARC] * may_add(graph, j, i) + [RIGHT_ARC] * may_add(graph, i, j)


# --- The graph ---


def slow_degree(heads, h, m):
    """Definition 3: components strictly inside the arc that its head does not dominate in the graph from end to end."""
    low, high = min(h, m), max(h, m)
    with_arc = [*heads]
    with_arc[m] = h
    inside = range(low + 1, high)
    components = {frozenset(w for w in inside if connected(with_arc, v, w, inside)) for v in inside}
    within = [x if low <= w <= high and low <= x <= high else -1 for w, x in enumerate(with_arc)]
    return sum(not all(dominates(tuple(within), h, w) for w in component) for component in components)


def connected(heads, v, w, nodes):
    reached, waiting = {v}, [v]
    while waiting:
        x = waiting.pop()
        for y in nodes:
            if y not in reached and (heads[x] == y or heads[y] == x):
                reached.add(y)
                waiting.append(y)
    return w in reached


@given(st.integers(1, 9), seeds)
def test_degrees_and_links_are_those_of_the_definition(n, seed):
    rng = np.random.default_rng(seed)
    graph = empty_graph(n)
    for j in range(1, n + 1):
        begin_word(graph)
        for i in range(j - 1, -1, -1):
            heads = graph.heads.tolist()
            assert degree_of_link(graph, i, j) == slow_degree(heads, i, j) == slow_degree(heads, j, i)
            assert may_add(graph, i, j) == (heads[j] == -1 and not dominates(tuple(heads), j, i))
            assert may_add(graph, j, i) == (i > 0 and heads[i] == -1 and not dominates(tuple(heads), i, j))
            take(graph, rng.choice(possible_actions(graph, i, j)), i, j)
            pass_over(graph, i, j)


@given(st.integers(1, 9), seeds, st.sampled_from(DEGREES))
def test_a_word_is_done_when_nothing_more_is_permissible(n, seed, max_degree):
    rng = np.random.default_rng(seed)
    limit = NO_LIMIT if max_degree is None else max_degree
    graph = empty_graph(n)
    for j in range(1, n + 1):
        begin_word(graph)
        done = False
        for i in range(j - 1, -1, -1):
            done = done or is_done(graph, i, j, limit)
            actions = possible_actions(graph, i, j) if permissible(graph, i, j, limit) else [NO_ARC]
            assert not done or actions == [NO_ARC]
            take(graph, rng.choice(actions), i, j)
            pass_over(graph, i, j)


def follow(gold, max_degree):
    """The graph that the parser builds when an oracle answers."""
    graph = empty_graph(len(gold) - 1)
    limit = NO_LIMIT if max_degree is None else max_degree
    for j in range(1, len(gold)):
        begin_word(graph)
        for i in range(j - 1, -1, -1):
            if permissible(graph, i, j, limit):
                take(graph, RIGHT_ARC if gold[j] == i else LEFT_ARC if gold[i] == j else NO_ARC, i, j)
            pass_over(graph, i, j)
    return graph.heads.tolist()


@given(st.integers(0, 10), seeds)
def test_an_oracle_leads_to_exactly_the_trees_within_the_degree(n, seed):
    gold = random_tree(n, rng=np.random.default_rng(seed), single_root=False).tolist()
    for d in DEGREES:
        assert (follow(gold, d) == gold) == (d is None or degree(gold) <= d)


def test_with_degree_0_an_oracle_leads_to_exactly_the_projective_trees():
    for gold in all_trees(4):
        assert (follow(list(gold), 0) == list(gold)) == is_projective(gold)


# --- The dynamic oracle ---


@given(st.integers(1, 4), seeds)
@settings(deadline=None, max_examples=60)
def test_the_oracle_knows_what_can_still_be_had(n, seed):
    rng = np.random.default_rng(seed)
    gold = random_tree(n, rng=rng, single_root=False)

    @cache
    def most_gold_arcs(heads, i, j):
        """By trying everything from LINK(i, j) on; what is left is attached to 0."""
        if j > n:
            return sum(max(h, 0) == g for h, g in zip(heads[1:], gold[1:], strict=True))
        if i < 0:
            return most_gold_arcs(heads, j, j + 1)
        return max(after(heads, action, i, j) for action in possible(heads, i, j))

    def after(heads, action, i, j):
        changed = list(heads)
        if action == RIGHT_ARC:
            changed[j] = i
        elif action == LEFT_ARC:
            changed[i] = j
        return most_gold_arcs(tuple(changed), i - 1, j)

    def possible(heads, i, j):
        right = heads[j] == -1 and not dominates(heads, j, i)
        left = i > 0 and heads[i] == -1 and not dominates(heads, i, j)
        return [NO_ARC] + [LEFT_ARC] * left + [RIGHT_ARC] * right

    graph = empty_graph(n)
    for j in range(1, n + 1):
        for i in range(j - 1, -1, -1):
            heads = tuple(graph.heads.tolist())
            actions = possible(heads, i, j)
            most = most_gold_arcs(heads, i, j)
            free = [a for a in actions if after(heads, a, i, j) == most]
            flags = (LEFT_ARC in actions, RIGHT_ARC in actions)
            if i == 0 and gold[j] == 0 and flags[1]:
                free.remove(NO_ARC)  # nothing would be lost, but the arc is to be made now
            assert [a for a in actions if loses_nothing(graph, gold, a, i, j, *flags)] == free
            take(graph, rng.choice(actions), i, j)


# --- Any classifier at all ---


def random_parser(seed, *, single_root=True, projective=False):
    rng = np.random.default_rng(seed)
    labels = ("a", "b", "c")
    weights = [rng.normal(size=size).astype(np.float32) for size in (1 << 14, (1 << 14) + len(labels))]
    config = CovingtonConfig(projective=projective, single_root=single_root)
    return CovingtonParser(config, labels, load_features("default"), Linear(*weights))


@given(st.integers(0, 14), seeds, st.sampled_from(DEGREES), st.booleans())
@settings(deadline=None)
def test_every_output_is_a_tree_within_the_degree(n, seed, max_degree, single_root):
    parser = random_parser(seed, single_root=single_root)
    parser.classifier.links.reshape(-1, 4)[:, NO_ARC] += seed % 3 * 0.3  # some classifiers seldom make arcs
    sentence = Sentence.of([f"w{seed % (k + 2)}" for k in range(n)])
    (parsed,) = parser.parse([sentence], max_degree=max_degree)
    assert is_tree(parsed.heads)
    assert max_degree is None or degree(parsed.heads) <= max_degree
    assert not single_root or n == 0 or parsed.head.count("0") == 1
    assert set(parsed.deprel) <= set(parser.labels)


@given(st.integers(1, 5), seeds, st.sampled_from([0, None]), st.booleans())
@settings(deadline=None)
def test_constraints_are_honoured_by_any_classifier(n, seed, max_degree, single_root):
    rng = np.random.default_rng(seed)
    wanted = random_tree(n, rng=rng)
    arcs = {(int(wanted[m]), m) for m in range(1, n + 1)}
    required = frozenset(arc for arc in arcs if rng.random() < 0.3)
    forbidden = frozenset(arc for arc in itertools.permutations(range(n + 1), 2) if rng.random() < 0.3) - arcs
    constraints = Constraints(
        required_arcs=required,
        forbidden_arcs=forbidden,
        required_labels={1: 2},
        forbidden_labels=frozenset({(n, 0)}),
        single_root=single_root,
        max_degree=max_degree,
    )
    allowed = [
        tree
        for tree in all_trees(n, single_root=single_root, projective=max_degree == 0)
        if all(tree[m] == h for h, m in required) and not any((tree[m], m) in forbidden for m in range(1, n + 1))
    ]
    parser, sentence = random_parser(seed, single_root=False), Sentence.of([f"w{k}" for k in range(n)])
    if not allowed:
        with pytest.raises(NoTreeError):
            parser.parse_sentence(sentence, constraints)
        return
    parsed = parser.parse_sentence(sentence, constraints)
    assert tuple(parsed.heads.tolist()) in allowed
    assert parsed.deprel[0] == "c"
    assert parsed.deprel[n - 1] != "a"


# --- The contract of a parser ---

TREEBANK = list(random_treebank(260, seed=11, nonprojectivity=0.3))
TRAIN, DEV, TEST = TREEBANK[:200], TREEBANK[200:220], TREEBANK[220:]

CONFIGS = {
    "exploring": CovingtonConfig(epochs=6, hash_bits=20),
    "static oracle": CovingtonConfig(epochs=6, hash_bits=20, exploration=0.0),
    "several roots": CovingtonConfig(epochs=6, hash_bits=20, single_root=False),
}


@pytest.fixture(scope="module", params=CONFIGS)
def parser(request) -> CovingtonParser:
    return train_covington(TRAIN, CONFIGS[request.param], dev=DEV)


def test_it_learns(parser):
    scores = evaluate(TEST, parser.parse(TEST)).all_words
    assert scores.uas.f1 > 0.75
    assert scores.las.f1 > 0.7
    assert parser.dev is not None
    assert parser.dev.las > 0.7


def test_it_finds_crossing_arcs(parser):
    assert parser.config.projective is False
    assert evaluate(TEST, parser.parse(TEST)).nonprojective_recall.recall > 0.1


def test_training_repeats_for_a_seed(parser):
    again = train_covington(TRAIN, parser.config, dev=DEV)
    np.testing.assert_array_equal(again.link_weights, parser.link_weights)
    assert list(again.parse(TEST)) == list(parser.parse(TEST))


def test_a_sentence_is_parsed_the_same_in_any_company(parser):
    together = list(parser.parse(TEST))
    assert [parser.parse_sentence(sentence) for sentence in reversed(TEST)][::-1] == together


def test_only_head_and_label_change(parser):
    for before, after in zip(TEST, parser.parse(TEST), strict=True):
        assert after.with_columns(head=before.head, deprel=before.deprel) == before


def test_missing_annotation_and_no_words_are_fine(parser):
    bare = [Sentence.of(sentence.form) for sentence in TEST[:5]] + [Sentence.of([])]
    assert all(len(parsed) == len(sentence) for parsed, sentence in zip(parser.parse(bare), bare, strict=True))


def test_a_smaller_degree_asks_the_classifier_less_often(parser):
    links = [int(parser.count_links(TEST, max_degree=d).sum()) for d in DEGREES]
    assert links == sorted(links)
    assert links[0] < links[-1]
    lengths = np.array([len(sentence) for sentence in TEST])
    assert (parser.count_links(TEST) <= lengths * (lengths + 1) // 2).all()


def test_the_file_gives_the_same_parser(parser, tmp_path):
    path = tmp_path / "my.crossarc"
    parser.save(path)
    loaded = CovingtonParser.load(path)
    assert list(loaded.parse(TEST)) == list(parser.parse(TEST))
    assert (loaded.config, loaded.labels, loaded.dev) == (parser.config, parser.labels, parser.dev)
    assert read_header(path)["system"] == "covington"
    path.write_bytes(path.read_bytes()[:1000])
    with pytest.raises(ModelError, match="truncated"):
        CovingtonParser.load(path)


def test_required_and_forbidden_arcs_are_honoured(parser):
    sentence = next(s for s in TEST if len(s) == 8)
    heads = parser.parse_sentence(sentence).heads
    for m in range(1, len(heads)):
        without = parser.parse_sentence(sentence, Constraints(forbidden_arcs=frozenset({(int(heads[m]), m)})))
        assert without.heads[m] != heads[m]
        for other in range(len(heads)):
            if other != m:
                required = parser.parse_sentence(sentence, Constraints(required_arcs=frozenset({(other, m)})))
                assert required.heads[m] == other
                assert is_tree(required.heads)


def test_labels_can_be_required_and_forbidden(parser):
    sentence = TEST[0]
    labels = parser.parse_sentence(sentence).deprel
    for word, label in enumerate(labels, 1):
        number = parser.labels.index(label)
        without = parser.parse_sentence(sentence, Constraints(forbidden_labels=frozenset({(word, number)})))
        assert without.deprel[word - 1] != label
        other = (number + 1) % len(parser.labels)
        required = parser.parse_sentence(sentence, Constraints(required_labels={word: other}))
        assert required.deprel[word - 1] == parser.labels[other]
    every = frozenset((1, label) for label in range(len(parser.labels)))
    with pytest.raises(NoTreeError, match="no label for word 1"):
        parser.parse_sentence(sentence, Constraints(forbidden_labels=every))


def test_projective_and_a_degree_can_be_asked_for(parser):
    crossing = [s for s in TEST if not is_projective(parser.parse_sentence(s).heads)]
    assert crossing
    for sentence in crossing:
        assert is_projective(parser.parse_sentence(sentence, Constraints(projective=True)).heads)
        assert degree(parser.parse_sentence(sentence, Constraints(max_degree=1)).heads) <= 1
        assert [parser.parse_sentence(sentence, Constraints(max_degree=0))] == list(
            parser.parse([sentence], max_degree=0)
        )


def test_constraints_that_cannot_be_honoured_are_refused(parser):
    with pytest.raises(UnsupportedConstraint):
        parser.parse_sentence(TEST[0], Constraints(max_children={1: 0}))
    with pytest.raises(ValueError, match="negative"):
        next(parser.parse(TEST, max_degree=-1))
    everything = itertools.product(range(len(TEST[0]) + 1), [1])
    impossible = frozenset((h, m) for h, m in everything if h != m)
    for constraints in (
        Constraints(forbidden_arcs=impossible),
        Constraints(required_arcs=frozenset({(1, 2), (2, 1)})),
        Constraints(required_arcs=frozenset({(1, 3), (2, 3)})),
        Constraints(required_arcs=frozenset({(99, 1)})),
        Constraints(required_arcs=frozenset({(1, 0)})),
    ):
        with pytest.raises(NoTreeError):
            parser.parse_sentence(TEST[0], constraints)


def test_a_projective_model_knows_only_projective_links():
    parser = train_covington(TRAIN, CovingtonConfig(epochs=2, hash_bits=18, projective=True))
    assert all(is_projective(parsed.heads) for parsed in parser.parse(TEST))
    assert list(parser.parse(TEST, max_degree=0)) == list(parser.parse(TEST))
    with pytest.raises(CrossarcError, match="only projective"):
        next(parser.parse(TEST, max_degree=1))
    flat = list(random_treebank(20, seed=1, nonprojectivity=0))
    assert train_covington(flat, CovingtonConfig(epochs=1, hash_bits=16)).config.projective


def test_an_interrupt_keeps_the_best_epoch_so_far():
    class Interrupting(Watcher):
        def report(self, report):
            if report.epoch == 2:
                raise KeyboardInterrupt

    config = CovingtonConfig(epochs=9, hash_bits=18)
    interrupted = train_covington(TRAIN, config, dev=DEV, watcher=Interrupting())
    assert interrupted.dev is not None
    assert interrupted.dev.las > 0.5


def test_bad_training_is_refused():
    with pytest.raises(CrossarcError, match="empty treebank"):
        train_covington([])
    with pytest.raises(CrossarcError, match="exploration"):
        CovingtonConfig(exploration=2)


# --- Feature sets ---


def test_another_feature_set_can_be_written(tmp_path):
    path = tmp_path / "mine.txt"
    path.write_text("[link]\ni.upos (j.upos j+1.upos)\ni.upos j.upos k.upos  # context\n[label]\ni.upos")
    parser = train_covington(TRAIN[:30], CovingtonConfig(epochs=1, hash_bits=16, features=str(path)))
    assert len(parser.features.compiled.links) == 3
    parser.save(tmp_path / "my.crossarc")
    path.unlink()
    assert CovingtonParser.load(tmp_path / "my.crossarc").features.text == parser.features.text


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("i.upos", "<memory>:1: a feature before the first section"),
        ("[arc]", "<memory>:1: unknown section"),
        ("[link]\nx.upos", "<memory>:2: 'x.upos' is not an atom"),
        ("[link]\ni.colour", "a word has the attributes"),
        ("[link]\ni-1.label", "neighbour"),
        ("[link]\ni.upos j.upos k.upos h.upos l.upos", "more than 4 atoms"),
        ("[link]\ni.upos (j.upos", "brackets"),
        ("[link]\ni.upos", "no features for \\[label\\]"),
    ],
)
def test_mistakes_in_a_feature_set_are_named(text, message):
    with pytest.raises(InputError, match=message):
        parse_features(text)


def test_a_feature_set_that_is_not_there_is_named():
    with pytest.raises(InputError, match="nowhere: no such file"):
        load_features("nowhere")
