"""Graphs of words with several heads: the search against enumeration, what is learnt of DEPS, what is written there."""

from __future__ import annotations

import itertools
import json
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

import oracles
from crossarc.cli import crossarc as commands
from crossarc.core import Constraints, CrossarcError, InputError, Sentence
from crossarc.evaluation import evaluate
from crossarc.io import read, write
from crossarc.io.problems import graph_problems
from crossarc.parsers import GraphConfig, TrainingListener, load, train
from crossarc.parsers.graph.config import PRESETS
from crossarc.parsers.graph.training import train as train_graph
from crossarc.parsers.graph.treebank import gold_graph, gold_graphs
from crossarc.parsers.training import TrainingSetup
from crossarc.scorers.shape import tree_shape
from crossarc.search import SecondOrder
from crossarc.search._graphs import GraphParts, grow_graph, score_of_graph
from crossarc.trees import is_tree
from trained import DEV, TEST, TRAIN, TREEBANK, trained

# kernels of their own, and a parser that is trained in two stages
pytestmark = pytest.mark.slow

# --- The search ---


@cache
def all_graphs(n):
    """Every tree over n words with every set of extra arcs that makes no cycle."""
    graphs = []
    for heads in oracles.all_trees(n):
        others = [(h, m) for h in range(n + 1) for m in range(1, n + 1) if h not in (m, heads[m])]
        for size in range(len(others) + 1):
            for extra in itertools.combinations(others, size):
                graph = matrix(heads)
                graph[tuple(zip(*extra, strict=True))] |= size > 0
                if is_acyclic(graph):
                    graphs.append((np.array(heads), graph))
    return graphs


def matrix(heads):
    graph = np.zeros((len(heads), len(heads)), dtype=bool)
    graph[heads[1:], range(1, len(heads))] = True
    return graph


def is_acyclic(graph):
    power = graph.astype(int)
    for _ in range(len(graph)):
        power = power @ graph
    return not power.any()


def slow_score(parts, heads, graph):
    total = 0.0
    for h, m in np.argwhere(graph):
        between = [s for s in range(min(h, m) + 1, max(h, m)) if graph[h, s]]
        nearest = (max(between) if h < m else min(between)) if between else h
        total += parts.siblings[h, nearest, m]
        total += parts.arcs[h, m] if heads[m] == h else parts.extras[h, m]
    return total


@st.composite
def parts(draw):
    n = draw(st.integers(1, 4))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    missing = draw(st.sampled_from([0.0, 0.5]))
    extras = rng.normal(size=(n + 1, n + 1)) - draw(st.sampled_from([0, 2]))
    extras[rng.random(extras.shape) < missing] = -np.inf
    return GraphParts(rng.normal(size=(n + 1, n + 1)), extras, rng.normal(size=(n + 1,) * 3))


def grown(parts, heads, single_root=False, projective=False):
    search = SecondOrder(tree_shape(single_root=single_root, projective=projective))
    heads = np.array(heads)
    graph = matrix(heads)
    return heads, graph, grow_graph(search, parts, heads, graph)


def first_tree(n):
    return np.arange(-1, n)


@settings(max_examples=40, deadline=None)
@given(parts())
def test_the_search_ends_at_an_acyclic_graph_that_no_step_improves(parts):
    n = len(parts.arcs) - 1
    start = first_tree(n)
    heads, graph, score = grown(parts, start)
    assert is_tree(heads)
    assert is_acyclic(graph)
    assert graph[heads[1:], range(1, n + 1)].all()
    assert score == pytest.approx(slow_score(parts, heads, graph))
    assert score >= slow_score(parts, start, matrix(start)) - 1e-9
    for m, h in itertools.product(range(1, n + 1), range(n + 1)):
        if h != m and not graph[h, m]:
            added, other_heads = graph.copy(), heads.copy()
            added[h, m] = True
            if is_acyclic(added):
                assert slow_score(parts, heads, added) <= score + 1e-9
            added[heads[m], m], other_heads[m] = False, h
            if is_acyclic(added):
                assert slow_score(parts, other_heads, added) <= score + 1e-9


def test_the_search_is_mostly_optimal_for_three_words():
    rng = np.random.default_rng(5)
    optimal = 0
    for _ in range(30):
        parts = GraphParts(3 * rng.normal(size=(4, 4)), rng.normal(size=(4, 4)) - 1, rng.normal(size=(4, 4, 4)) / 2)
        best = max(score_of_graph(parts, *graph) for graph in all_graphs(3))
        trees = oracles.all_trees(3)
        start = max(trees, key=lambda heads: slow_score(parts, heads, matrix(heads)))
        score = grown(parts, start)[2]
        assert score <= best + 1e-9
        optimal += score >= best - 1e-9
    assert optimal >= 20


def test_rules_keep_the_tree():
    parts = GraphParts(np.zeros((5, 5)), np.ones((5, 5)), np.zeros((5, 5, 5)))
    parts.arcs[0] = 9
    start = first_tree(4)
    assert (grown(parts, start)[0] != start).any()
    assert (grown(parts, start, projective=True)[0] == start).all()
    heads, graph, _ = grown(parts, start, single_root=True)
    assert (heads == 0).sum() == 1
    assert graph.sum() == 10  # all that an acyclic graph can have


# --- What is learnt of DEPS ---


def sentence(heads, deps):
    labels = ["_", *("root" if head == 0 else "x" for head in heads)]
    return Sentence.of(["w"] * len(deps)).with_tree([-1, *heads], labels).with_columns(deps=deps)


def test_what_cannot_be_learnt_is_counted():
    found = gold_graph(sentence([2, 0, 2, 2, 2], ["2:x|3:y", "0:root", "1:y|2:x|2:z", "3:a|3:b", "2:y|4:c"]))
    assert found.extra == {(3, 1): "y", (3, 4): "a|b", (4, 5): "c"}
    assert found.in_cycles == 1  # 1 -> 3, after 3 -> 1
    assert found.relabelled == 2  # 2:z, 2:y
    assert found.not_in_deps == 1  # 2 -> 4


def test_arcs_of_empty_nodes_are_counted(handmade):
    sentences = [s for s in read(handmade, trees=True) if any(i.is_empty_node for i in s.inserts)]
    mentioned = sum("." in arc.partition(":")[0] for s in sentences for deps in s.deps for arc in deps.split("|"))
    own = sum(len(i.row.deps.split("|")) for s in sentences for i in s.inserts if i.is_empty_node)
    assert sum(gold_graph(s).to_empty_nodes for s in sentences) == mentioned + own > 0


class Noting(TrainingListener):
    def __init__(self):
        self.notes = []

    def sentences_left_out(self, sentences, reason):
        self.notes.append((sentences, reason))

    def arcs_left_out(self, arcs, how):
        self.notes.append((arcs, how))


def test_what_is_not_learnt_is_reported():
    listener = Noting()
    gold_graphs([sentence([2, 0, 2], ["2:x", "0:root|3:y", "2:z"]), sentence([0], ["0:root"])], listener)
    assert listener.notes == [
        (1, "of DEPS would close a cycle: not learnt"),
        (1, "of trees have another label in DEPS: that of DEPREL is learnt"),
    ]


def test_sentences_with_cycles_can_be_left_out():
    listener, cyclic = Noting(), sentence([2, 0, 2], ["2:x", "0:root|3:y", "2:x"])
    config = GraphConfig(epochs=1, hash_bits=16, cycles="sentence")
    parser = train([*TREEBANK[:20], cyclic], config, listener=listener)
    assert (1, "their graphs have cycles") in listener.notes
    assert "x" not in parser.labels


def test_the_paper_has_one_weight_vector(tmp_path):
    with pytest.raises(CrossarcError, match="shared weights"):
        GraphConfig(shared_weights=True)
    parser = train(TREEBANK[:30], replace(PRESETS["mp2006"], epochs=1, hash_bits=16))
    assert (parser.config.cycles, parser.config.basic_tree) == ("sentence", False)  # they are left out, and counted
    assert parser.tree.scorer.pruner is None
    assert np.shares_memory(parser.extras_model.weights, parser.tree.scorer.heads_model.weights)
    parser.save(tmp_path / "my.crossarc")
    again = load(tmp_path / "my.crossarc")
    assert list(again.trees(TEST[:9])) == list(parser.trees(TEST[:9]))


def test_broken_graphs_name_their_place():
    with pytest.raises(InputError, match="DEPS of word 2: there is no node '7'"):
        gold_graph(sentence([2, 0], ["2:x", "0:root|7:y"]))


def test_a_treebank_without_extra_heads_is_refused():
    with pytest.raises(CrossarcError, match="no word has an extra head"):
        train([sentence([2, 0], ["_", "_"])], GraphConfig())


def test_only_trees_of_order_2_are_a_start():
    with pytest.raises(CrossarcError, match="order 2"):
        train_graph(TREEBANK[:10], GraphConfig(), TrainingSetup(), tree=trained("order 1"))


# --- What is written ---


@pytest.fixture(scope="module", params=["by the basic tree", "by the arc alone", "as in the paper"])
def parser(request):
    if request.param == "by the basic tree":
        return trained("graph")
    if request.param == "as in the paper":
        return train(TRAIN, replace(PRESETS["mp2006"], epochs=3, hash_bits=18), dev=DEV)
    config = GraphConfig(epochs=3, hash_bits=18, basic_tree=False)
    return train_graph(TRAIN, config, TrainingSetup(DEV), tree=trained("order 2"))


def test_extra_heads_are_learnt(parser):
    scores = evaluate(TEST, parser.trees(TEST)).graph
    least = 0.6 if parser.config.basic_tree else 0.1 if parser.config.shared_weights else 0.2
    assert scores.extra_labelled.f1 > least  # these heads follow from the tree
    all_arcs = 0.7 if parser.config.shared_weights else 0.75
    assert scores.labelled.f1 > all_arcs
    assert parser.dev_graph > all_arcs


def test_graphs_are_written_as_conllu_demands(parser):
    several = 0
    for parsed in parser.trees(TEST):
        assert not list(graph_problems(parsed))
        graph = matrix(parsed.heads)
        for m, (head, label, deps) in enumerate(zip(parsed.head, parsed.deprel, parsed.deps, strict=True), 1):
            arcs = deps.split("|")
            assert f"{head}:{label}" in arcs
            graph[[int(arc.partition(":")[0]) for arc in arcs], m] = True
            several += len(arcs) > 1
        assert is_acyclic(graph)
    assert several > 5


def test_an_arc_with_two_labels_is_written_twice(parser):
    doubled = replace(parser, extra_labels=tuple(f"{label}|also" for label in parser.extra_labels))
    before, after = next(
        (before, after)
        for before, after in zip(parser.trees(TEST), doubled.trees(TEST), strict=True)
        if before != after
    )
    arcs_before, arcs_after = (sum(deps.count("|") + 1 for deps in s.deps) - len(s) for s in (before, after))
    assert arcs_after == 2 * arcs_before > 0
    assert not list(graph_problems(after))


def test_forbidden_arcs_are_not_in_the_graph(parser):
    forbidden = 0
    for parsed in parser.trees(TEST[:20]):
        for m, (head, deps) in enumerate(zip(parsed.head, parsed.deps, strict=True), 1):
            for arc in deps.split("|"):
                extra = int(arc.partition(":")[0])
                if extra != int(head):
                    constraints = Constraints(forbidden_arcs=frozenset({(extra, m)}))
                    without = parser.parse_sentence(parsed, constraints)
                    assert all(int(a.partition(":")[0]) != extra for a in without.deps[m - 1].split("|"))
                    forbidden += 1
    assert forbidden


def test_the_command_line(tmp_path):
    # In this process, so that nothing is compiled twice
    treebank, model, parsed = (str(tmp_path / name) for name in ("train.conllu", "my.crossarc", "parsed.conllu"))
    write(TREEBANK[:60], treebank)

    small = ["--hash-bits", "18"]

    def run(*arguments):
        return CliRunner().invoke(commands, arguments, catch_exceptions=False)

    done = run("train", treebank, "--dev", treebank, "-m", model, "--system", "graph", "--epochs", "2", *small)
    assert "graphs 2: loss" in done.stderr
    assert "graph F" in done.stderr
    assert run("parse", treebank, "-m", model, "-o", parsed).exit_code == 0
    scores = json.loads(run("evaluate", treebank, parsed, "--graph", "--json").stdout)
    assert scores["extra_labelled"]["f1"] > 70
    assert "extra labelled" in run("evaluate", treebank, parsed, "--graph").stdout


def test_without_deps_a_tree_is_its_graph(tmp_path):
    gold, trees = (str(tmp_path / name) for name in ("gold.conllu", "trees.conllu"))
    write(TREEBANK[:20], gold)
    write((s.with_columns(deps=["_"] * len(s)) for s in TREEBANK[:20]), trees)
    done = CliRunner().invoke(commands, ["evaluate", gold, trees, "--graph", "--json"], catch_exceptions=False)
    scores = json.loads(done.stdout)
    assert scores["labelled"]["precision"] == 100
    assert 0 < scores["labelled"]["recall"] < 100
    assert scores["extra_labelled"]["system"] == 0
