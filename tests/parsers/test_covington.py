"""The incremental parser: its graph and oracle against slow definitions, degrees, feature sets."""

from __future__ import annotations

import itertools
import sys
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.preprocessing import OneHotEncoder
from sklearn.svm import SVC

from crossarc.core import Constraints, CrossarcError, InputError, NoTreeError, Sentence
from crossarc.evaluation.calibration import Temperatures
from crossarc.features.attributes import attributes_of
from crossarc.learning._svm import class_scores, group_of, new_workspace
from crossarc.learning.svm import SvmSettings, fit_svm
from crossarc.parsers import ParseOptions, train
from crossarc.parsers.covington._explain import places_at_link
from crossarc.parsers.covington._graph import (
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
from crossarc.parsers.covington._parse import LinkOptions
from crossarc.parsers.covington._training import instances_of, loses_nothing
from crossarc.parsers.covington.confidence import fit_temperatures, probabilities
from crossarc.parsers.covington.config import PRESETS, CovingtonConfig
from crossarc.parsers.covington.features import load_features, parse_features
from crossarc.parsers.covington.parser import CovingtonParser, Linear
from crossarc.parsers.covington.repair import nearest_tree
from crossarc.parsers.training import Treebank
from crossarc.testing import random_tree, random_treebank
from crossarc.trees import is_projective, is_tree
from crossarc.trees.shape import degree
from oracles import all_trees, dominates
from trained import TEST, TRAIN, names_of, trained

pytestmark = pytest.mark.slow  # compiles much that few people use

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
    (parsed,) = parser.trees([sentence], ParseOptions(max_degree=max_degree))
    assert is_tree(parsed.heads)
    assert max_degree is None or degree(parsed.heads) <= max_degree
    assert not single_root or n == 0 or parsed.head.count("0") == 1
    assert set(parsed.deprel) <= set(parser.labels)


@given(st.integers(1, 5), seeds, st.sampled_from(DEGREES), st.booleans())
@settings(deadline=None)
def test_constraints_are_honoured_by_any_classifier(n, seed, max_degree, single_root):
    rng = np.random.default_rng(seed)
    wanted = random_tree(n, rng=rng)
    arcs = {(int(wanted[m]), m) for m in range(1, n + 1)}
    required = frozenset(arc for arc in arcs if rng.random() < 0.3)
    pairs = [arc for arc in itertools.permutations(range(n + 1), 2) if arc[1] > 0]
    forbidden = frozenset(arc for arc in pairs if rng.random() < 0.3) - arcs
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
        for tree in all_trees(n, single_root=single_root)
        if all(tree[m] == h for h, m in required)
        and not any((tree[m], m) in forbidden for m in range(1, n + 1))
        and (max_degree is None or degree(tree) <= max_degree)
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


@pytest.mark.parametrize("max_degree", [1, 2])
def test_required_arcs_that_cross_leave_a_tree_within_the_degree(max_degree):
    """No projective tree has them, and the nearest one of any degree is too far from projective."""
    heads = np.array([-1, 5, 6, 7, 8, 0, 5, 5, 5])
    required = {(1, 3), (2, 4)}
    constraints = Constraints(required_arcs=frozenset(required), max_degree=max_degree)
    parser = random_parser(3)
    parsed = parser.parse_sentence(Sentence.of(["w"] * 8), constraints).heads
    assert required <= {(int(h), m) for m, h in enumerate(parsed)}
    assert 1 <= degree(parsed) <= max_degree
    allowed = np.ones((9, 9), dtype=np.bool_) & ~np.eye(9, dtype=np.bool_)
    allowed[:, 0] = False
    for h, m in required:
        allowed[:, m] = np.arange(9) == h
    nearest = nearest_tree(heads, allowed, single_root=True, max_degree=max_degree)
    assert is_tree(nearest)
    assert degree(nearest) <= max_degree
    assert (nearest[1:] == heads[1:]).sum() >= 5


def test_a_word_that_is_left_goes_to_the_root_as_in_the_paper():
    parser = random_parser(1, single_root=False)
    parser.classifier.links.reshape(-1, 4)[:, NO_ARC] += 10.0  # no arc is ever made
    sentence = Sentence.of(["a", "b", "c"])
    assert set(parser.parse_sentence(sentence).head) != {"0"}
    parser = replace(parser, config=replace(parser.config, unattached="root"))
    assert parser.parse_sentence(sentence).head == ("0", "0", "0")


# --- Trained parsers ---


@pytest.fixture(params=names_of(system="covington"))
def parser(request):
    return trained(request.param)


def test_a_smaller_degree_asks_the_classifier_less_often(parser):
    links = [int(parser.count_links(TEST, max_degree=d).sum()) for d in DEGREES]
    assert links == sorted(links)
    assert links[0] < links[-1]
    lengths = np.array([len(sentence) for sentence in TEST])
    assert (parser.count_links(TEST) <= lengths * (lengths + 1) // 2).all()


def test_a_degree_can_be_asked_for(parser):
    crossing = [s for s in TEST if degree(parser.parse_sentence(s).heads) > 1]
    assert crossing
    for sentence in crossing:
        assert degree(parser.parse_sentence(sentence, Constraints(max_degree=1)).heads) <= 1
        degree_0 = list(parser.trees([sentence], ParseOptions(max_degree=0)))
        assert [parser.parse_sentence(sentence, Constraints(max_degree=0))] == degree_0


def test_a_negative_degree_is_refused():
    with pytest.raises(ValueError, match="negative"):
        next(trained("covington").trees(TEST, ParseOptions(max_degree=-1)))


def test_a_projective_model_knows_only_projective_links():
    parser = train(TRAIN, CovingtonConfig(epochs=2, hash_bits=18, projective=True))
    assert all(is_projective(parsed.heads) for parsed in parser.trees(TEST))
    assert list(parser.trees(TEST, ParseOptions(max_degree=0))) == list(parser.trees(TEST))
    with pytest.raises(CrossarcError, match="only projective"):
        next(parser.trees(TEST, ParseOptions(max_degree=1)))
    flat = list(random_treebank(20, seed=1, nonprojectivity=0))
    assert train(flat, CovingtonConfig(epochs=1, hash_bits=16)).config.projective


@pytest.mark.parametrize("limit", [1, 2])
def test_a_model_can_be_trained_for_a_degree(limit):
    parser = train(TRAIN, CovingtonConfig(epochs=2, hash_bits=18, max_degree=limit))
    assert not parser.config.projective
    found = [degree(parsed.heads) for parsed in parser.trees(TEST)]
    assert max(found) == limit
    assert list(parser.trees(TEST, ParseOptions(max_degree=limit))) == list(parser.trees(TEST))
    assert all(is_projective(parsed.heads) for parsed in parser.trees(TEST, ParseOptions(max_degree=0)))
    with pytest.raises(CrossarcError, match=f"links of degree {limit} at most"):
        next(parser.trees(TEST, ParseOptions(max_degree=limit + 1)))


def test_bad_training_is_refused():
    with pytest.raises(CrossarcError, match="exploration"):
        CovingtonConfig(exploration=2)
    with pytest.raises(CrossarcError, match="max_degree is 1: that does not go with projective links"):
        CovingtonConfig(max_degree=1, projective=True)


# --- Feature sets ---


def test_another_feature_set_can_be_written(tmp_path):
    path = tmp_path / "mine.txt"
    path.write_text("[link]\ni.upos (j.upos j+1.upos)\ni.upos j.upos k.upos  # context\n[label]\ni.upos")
    parser = train(TRAIN[:30], CovingtonConfig(epochs=1, hash_bits=16, features=str(path)))
    assert len(parser.features.compiled.links) == 3
    parser.save(tmp_path / "my.crossarc")
    path.unlink()
    assert CovingtonParser.load(tmp_path / "my.crossarc").features.text == parser.features.text


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("i.upos", "<memory>:1: a template before the first section"),
        ("[arc]", "<memory>:1: unknown section"),
        ("[link]\nx.upos", "<memory>:2: 'x.upos': .link. has the words i, j, k, k2"),
        ("[link]\ni.colour", "a word has the attributes"),
        ("[link]\ni-1.label", "neighbour"),
        ("[link]\ni.upos j.upos k.upos h.upos l.upos", "more than 4 atoms"),
        ("[link]\ni.upos (j.upos", "brackets"),
        ("[link]\ni-1.feat", "neighbour"),
        ("[link]\ni.feat j.feat h.feat", "<memory>:2: a conjunction of more than 2 atoms with several values"),
        ("[link]\ni.upos", "no templates for \\[label\\]"),
    ],
)
def test_mistakes_in_a_feature_set_are_named(text, message):
    with pytest.raises(InputError, match=message):
        parse_features(text)


def test_a_feature_set_that_is_not_there_is_named():
    with pytest.raises(InputError, match="nowhere: no such file"):
        load_features("nowhere")


def test_the_features_of_the_paper_are_there_one_by_one():
    """The list of section 5: part-of-speech is XPOS, coarse part-of-speech UPOS, features are split into atoms."""
    core = {
        "form": ["i", "j", "j+1", "h"],
        "lemma": ["i"],
        "pos": ["i-1", "i", "j", "j+1", "j+2", "k", "k2"],
        "upos": ["i", "j", "k"],
        "feat": ["i", "j"],
        "label": ["i", "j", "l", "lj", "r"],
    }
    templates = load_features("n07").templates
    assert sorted(templates["link"]) == sorted(f"{word}.{name}" for name, words in core.items() for word in words)
    assert len(templates["link"]) == 22
    assert templates["label"] == templates["link"]


WORDS = Sentence.of(["a", "b", "c"]).with_columns(feats=["A=1|B=2", "_", "A=1|C=3|D=4"])


@pytest.mark.parametrize(
    ("line", "link", "count"),
    [
        ("i.upos j.upos", (1, 3), 1),
        ("i.feat", (1, 3), 2),
        ("i.feat j.upos", (2, 3), 0),
        ("i.feat j.feat", (1, 3), 6),
        ("i.upos i.feat j.feat distance", (1, 3), 6),
        ("j.feat", (0, 3), 3),
        ("i.feat", (0, 3), 0),
        ("h.feat", (1, 3), 0),
    ],
)
def test_a_template_makes_a_feature_of_each_morphological_feature(line, link, count):
    features = parse_features(f"[link]\n{line}\n[label]\ni.upos")
    parser = replace(random_parser(1), features=features)
    places, _ = places_at_link(attributes_of([WORDS]), parser.model, *parser.without_constraints(), *link)
    assert len(places) == count
    assert len(set(places.tolist())) == count


@given(seeds)
@settings(deadline=None, max_examples=20)
def test_scores_are_the_same_when_words_are_summed_once(seed):
    """What parsing sums once for each word, explanations sum anew for each link."""
    rng = np.random.default_rng(seed)
    feats = rng.choice(["_", "A=1", "A=1|B=2", "A=2|C=3|D=4"], 6).tolist()
    sentence = Sentence.of([f"w{k}" for k in range(6)]).with_columns(feats=feats)
    parser = random_parser(seed)
    (parsed,) = parser.parse([sentence], ParseOptions(confidence=True))
    links = parser._link([sentence], *parser.without_constraints(), with_evidence=True)
    for m, h in enumerate(parsed.sentence.heads[1:].tolist(), 1):
        chosen, other = links.evidence[m, :2]
        if chosen > 0 and other != 0.0:
            reasons = parser.explain(sentence, h, m)
            assert sum(reason.weight for reason in reasons) == pytest.approx(chosen - other, abs=1e-3)


def test_morphological_features_are_learnt_one_by_one():
    """The case of a noun is told by one feature of many; all of them together are seldom seen twice."""
    rng = np.random.default_rng(7)

    def sentence(_):
        # a verb between two nouns; the one with the accusative depends on it as its object
        cases = ["Case=Acc", "Case=Nom"][:: 1 if rng.random() < 0.5 else -1]
        noise = [f"Noise={rng.integers(1000)}|Other={rng.integers(1000)}" for _ in cases]
        feats = [f"{case}|{rest}" for case, rest in zip(cases, noise, strict=True)]
        labels = ["obj" if case == "Case=Acc" else "nsubj" for case in cases]
        heads, upos = ["2", "0", "2"], ["NOUN", "VERB", "NOUN"]
        return Sentence.of(["x", "y", "x"]).with_columns(
            upos=upos, feats=[feats[0], "_", feats[1]], head=heads, deprel=[labels[0], "root", labels[1]]
        )

    treebank = list(map(sentence, range(120)))
    for config in (CovingtonConfig(epochs=3, hash_bits=18), CovingtonConfig(classifier="svm", features="n07")):
        parser = train(treebank[:80], config)
        found = list(parser.trees(treebank[80:]))
        assert [s.deprel for s in found] == [s.deprel for s in treebank[80:]]


# --- Support vector machines ---


@pytest.mark.parametrize("n_classes", [1, 2, 5])
@pytest.mark.parametrize("kernel", [SvmSettings(), SvmSettings(3, 0.5, 1.0, 0.7, 0.01), SvmSettings(degree=1)])
def test_decisions_are_those_of_libsvm(n_classes, kernel):
    rng = np.random.default_rng(n_classes)
    symbols = rng.integers(0, 4, (400, 6)).astype(np.uint32)  # 0 is none
    classes = 3 * ((symbols[:, 0] + symbols[:, 1] * symbols[:, 2]) % n_classes).astype(np.int64)
    keys = np.repeat(np.array([7, 8, 9], dtype=np.uint64), [250, 100, 50])
    told = []
    svm = fit_svm(symbols, classes, keys, 15, settings=kernel, smallest=90, learnt=told.append)
    assert sum(told) == len(classes)
    assert svm.keys.tolist() == [0, 7]  # 8 and 9 together are the smallest group
    work = new_workspace(svm)
    for key, member in ((7, keys == 7), (9, keys != 7)):
        group = group_of(svm, np.uint64(key))
        machine = SVC(
            C=kernel.cost,
            kernel="poly",
            gamma=kernel.gamma,
            degree=kernel.degree,
            coef0=kernel.r,
            tol=kernel.tolerance,
            break_ties=n_classes > 2,
        )
        binary = OneHotEncoder(categories=[[1, 2, 3]] * 6, handle_unknown="ignore").fit(symbols[member])
        if n_classes > 1:
            machine.fit(binary.transform(symbols[member]), classes[member])
        for x in rng.integers(0, 5, (50, 6)).astype(np.uint32):  # some symbols are new
            work.symbols[:] = x
            scores = np.empty(15, dtype=np.float32)
            class_scores(svm, group, work, scores)
            seen = scores[: 3 * n_classes : 3]
            assert scores.max() == seen.max()
            if n_classes == 1:
                assert seen == [0.0]
            elif n_classes == 2:
                margin = machine.decision_function(binary.transform(x[None]))[0]
                assert (seen[1] > seen[0]) == (margin > 0)
            elif not has_tie(machine, binary.transform(x[None])):
                np.testing.assert_allclose(seen, machine.decision_function(binary.transform(x[None]))[0], atol=1e-4)


def has_tie(machine, x):
    """Whether one of the machines is undecided: rounding then says which class it votes for."""
    machine.set_params(decision_function_shape="ovo", break_ties=False)
    margins = machine.decision_function(x)
    machine.set_params(decision_function_shape="ovr", break_ties=True)
    return abs(margins).min() < 1e-6


def test_a_class_that_a_group_has_never_seen_comes_after_all_others():
    symbols = np.array([[1], [2], [1], [2]] * 50, dtype=np.uint32)
    classes = np.array([0, 1, 0, 1] * 49 + [2] * 4)
    keys = np.repeat(np.array([1, 2], dtype=np.uint64), 100)
    svm = fit_svm(symbols, classes, keys, 4, settings=SvmSettings(), smallest=100, learnt=print)
    scores = np.empty(4, dtype=np.float32)
    class_scores(svm, group_of(svm, np.uint64(1)), new_workspace(svm), scores)
    assert min(scores[0], scores[1]) > scores[2] > scores[3]


def test_svm_without_scikit_learn_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "sklearn.svm", None)
    with pytest.raises(CrossarcError, match="\\[svm\\]"):
        train(TRAIN[:5], CovingtonConfig(classifier="svm"))


def test_the_preset_of_the_paper_learns(tmp_path):
    parser = train(TRAIN, replace(PRESETS["n07"], svm_split=0))
    assert len(parser.classifier.svm.keys) == 1  # the same machines for all tags
    right = sum((parsed.heads == gold.heads).sum() for parsed, gold in zip(parser.trees(TEST), TEST, strict=True))
    assert right / sum(map(len, TEST)) > 0.7
    parser.save(tmp_path / "n07.crossarc")
    assert list(CovingtonParser.load(tmp_path / "n07.crossarc").trees(TEST)) == list(parser.trees(TEST))


def test_the_parameters_of_the_machines_are_those_of_the_configuration(monkeypatch):
    svm = pytest.importorskip("sklearn.svm")
    given = []

    class Recorded(svm.SVC):
        def __init__(self, **parameters):
            given.append(parameters)
            super().__init__(**parameters)

    monkeypatch.setattr(svm, "SVC", Recorded)
    asked = {"svm_degree": 3, "svm_gamma": 0.3, "svm_r": 0.4, "svm_cost": 0.6, "svm_tolerance": 0.7}
    parser = train(TRAIN[:40], replace(PRESETS["n07"], svm_split=1, **asked))
    names = {"degree": 3, "gamma": 0.3, "coef0": 0.4, "C": 0.6, "tol": 0.7}
    assert given
    assert all(names.items() <= parameters.items() for parameters in given)
    assert len(parser.classifier.svm.keys) > 1  # a tag with one link has machines of its own


def test_instances_are_the_links_of_the_gold_trees_within_the_degree():
    """As many right arcs as gold arcs that can be made; with degree 0, those that an oracle makes."""
    treebank = Treebank(TRAIN)
    parser = trained("covington, svm")
    arcs = {}
    for limit in (0, NO_LIMIT):
        rules = LinkOptions(limit, True, False)
        found = [instances_of(treebank.batch, b, parser.model, treebank.gold, rules)[1] for b in range(len(TRAIN))]
        arcs[limit] = [int((classes > 0).sum()) for classes in found]
    assert arcs[NO_LIMIT] == [len(sentence) for sentence in TRAIN]
    assert arcs[0] == [sum(h >= 0 for h in follow(s.heads.tolist(), 0)[1:]) for s in TRAIN]


# --- Confidence ---


def test_confidence_is_higher_where_trees_are_right(parser):
    confident = list(parser.parse(TEST, ParseOptions(confidence=True)))
    sure = np.concatenate([parsed.confidence.arcs[1:] for parsed in confident])
    found = zip(confident, TEST, strict=True)
    right = np.concatenate([parsed.sentence.heads[1:] == gold.heads[1:] for parsed, gold in found])
    assert sure[right].mean() > sure[~right].mean()
    assert sure.mean() == pytest.approx(right.mean(), abs=0.15)


def test_the_temperature_is_found():
    rng = np.random.default_rng(3)
    scores = rng.normal(size=(5000, 3 + 4)).astype(np.float32)
    chosen, labels = scores[:, :3] / 0.5, scores[:, 3:] / 2.0
    arcs = np.exp(chosen)[:, 0] / np.exp(chosen).sum(1)
    relations = np.exp(labels)[:, 1] / np.exp(labels).sum(1)
    number = np.ones(len(scores), dtype=np.int64)
    fitted = fit_temperatures(scores, number, rng.random(len(scores)) < arcs, rng.random(len(scores)) < relations)
    assert fitted.arcs == pytest.approx(0.5, rel=0.15)
    assert fitted.labels == pytest.approx(2.0, rel=0.3)
    sure = probabilities(scores, number, Temperatures(0.5, 2.0))
    np.testing.assert_allclose(sure[0], arcs, rtol=1e-4)
    np.testing.assert_allclose(sure[1], arcs * relations, rtol=1e-4)
