"""Scores of graphs: ELAS and EULAS are those of the official scorer, count by count."""

from __future__ import annotations

import subprocess
import sys
import sysconfig
from collections.abc import Iterable, Iterator
from itertools import islice, permutations
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import crossarc
from crossarc.core import Insert, Row, Sentence
from crossarc.evaluation import evaluate
from crossarc.evaluation.deps import arcs_of_deps
from crossarc.evaluation.empty_nodes import collapse_empty_nodes
from crossarc.evaluation.graphs import tree_as_graph
from crossarc.testing import random_treebank
from disturb import disturbed, disturbed_graphs, resegmented

UDEVAL = Path(sysconfig.get_path("scripts")) / "udeval"
WITH_DEPS = ("English-EWT", "Dutch-Alpino", "Czech-mix")


def official_counts(gold: Path, system: Path, *options: str) -> dict[str, list[int]]:
    """Correct, gold and system counts of ELAS and EULAS, by the official scorer as an external program."""
    command = [sys.executable, UDEVAL, "--counts", "--multiple-roots-okay", *options, gold, system]
    output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    rows = [[cell.strip() for cell in line.split("|")] for line in output.splitlines()[2:]]
    return {name: list(map(int, cells[:3])) for name, *cells in rows if name in ("ELAS", "EULAS")}


def assert_official(gold: list[Sentence], system: list[Sentence], folder: Path, *options: str) -> None:
    files = folder / "gold.conllu", folder / "system.conllu"
    for sentences, file in zip((gold, system), files, strict=True):
        crossarc.write(sentences, file)
    scores = evaluate(gold, system).graph
    ours = {name.upper(): getattr(scores, name) for name in ("elas", "eulas")}
    theirs = official_counts(*files, *options)
    assert {name: [s.correct, s.gold, s.system] for name, s in ours.items()} == theirs
    assert 0 < ours["ELAS"].correct < ours["ELAS"].gold


def graphs(sentences: Iterable[Sentence]) -> list[Sentence]:
    return list(map(tree_as_graph, sentences))


@pytest.mark.parametrize("seed", range(4))
def test_elas_of_random_graphs(seed, tmp_path):
    gold = list(disturbed_graphs(graphs(random_treebank(60, seed=seed)), seed + 50))
    system = list(disturbed_graphs(disturbed(gold, seed), seed))
    assert_official(gold, system, tmp_path)


@pytest.mark.parametrize("seed", range(4))
def test_elas_of_other_words_and_sentences(seed, tmp_path):
    gold = graphs(resegmented(random_treebank(60, seed=seed), seed + 100))
    system = list(disturbed_graphs(graphs(resegmented(random_treebank(60, seed=seed), seed)), seed))
    assert_official(gold, system, tmp_path)


def test_elas_of_handmade_treebank(handmade, tmp_path):
    gold = graphs(crossarc.read(handmade))
    system = list(disturbed_graphs(gold, 3))
    assert_official(gold, system, tmp_path)
    gold, system = (list(map(collapse_empty_nodes, sentences)) for sentences in (gold, system))
    assert_official(gold, system, tmp_path, "--no-empty-nodes", "yes")


@pytest.mark.slow
@pytest.mark.parametrize("name", WITH_DEPS)
def test_elas_of_real_treebanks(name, treebanks, tmp_path):
    gold = list(crossarc.read(treebanks / name / "dev.conllu"))
    system = list(disturbed_graphs(disturbed(gold, 7), 7))
    assert_official(gold, system, tmp_path)
    assert any(sentence.inserts for sentence in gold)
    gold, system = (list(map(collapse_empty_nodes, sentences)) for sentences in (gold, system))
    assert_official(gold, system, tmp_path, "--no-empty-nodes", "yes")


@st.composite
def graphs_with_empty_nodes(draw) -> Sentence:
    """Three words and up to three empty nodes, with arcs between any of them."""
    empty = [f"1.{i}" for i in range(1, 1 + draw(st.integers(0, 3)))]
    arcs = st.lists(st.tuples(st.sampled_from(["0", "1", "2", "3", *empty]), st.sampled_from("abc")), max_size=3)
    columns = ["|".join(f"{head}:{label}" for head, label in draw(arcs)) or "_" for _ in range(3 + len(empty))]
    rows = [Insert(1, Row(id_, *["_"] * 7, deps, "_")) for id_, deps in zip(empty, columns[3:], strict=True)]
    return Sentence(Sentence.of(["x", "y", "z"], deps=columns[:3]).columns, inserts=tuple(rows))


def paths_to(sentence: Sentence, word: int) -> Iterator[tuple[str, str]]:
    """The arcs to a word and the paths to it, of which all but the ends are different empty nodes: all are tried."""
    deps = {str(i): own for i, own in enumerate(sentence.deps, 1)}
    deps |= {insert.row.id: insert.row.deps for insert in sentence.inserts}
    empty = [insert.row.id for insert in sentence.inserts]
    for length in range(len(empty) + 1):
        for between in permutations(empty, length):
            for head in ("0", "1", "2", "3"):
                labels = [""]
                for above, below in zip((head, *between), (*between, str(word)), strict=True):
                    steps = [label for node, label in arcs_of_deps(deps[below]) if node == above]
                    labels = [f"{path}>{step}" for path in labels for step in steps]
                yield from ((head, label[1:]) for label in labels)


@given(graphs_with_empty_nodes())
def test_collapsed_graph_has_all_paths_through_empty_nodes(sentence):
    collapsed = collapse_empty_nodes(sentence)
    assert not collapsed.inserts
    for word, deps in enumerate(collapsed.deps, 1):
        assert set(arcs_of_deps(deps)) == set(paths_to(sentence, word))


def test_chain_of_empty_nodes_beyond_all_reason_is_no_stack_overflow():
    above = ["0:root", *(f"1.{i}:dep" for i in range(1, 3000))]
    rows = tuple(Insert(1, Row(f"1.{i}", *["_"] * 7, deps, "_")) for i, deps in enumerate(above, 1))
    sentence = Sentence(Sentence.of(["x"], deps=["1.3000:dep"]).columns, inserts=rows)
    assert collapse_empty_nodes(sentence).deps == ("_",)


# He wants to read and sees [the] book that lies [there]; 'book' is read and seen
TREE = Sentence.of(["He", "wants", "read", "sees", "book", "that", "lies"]).with_tree(
    [-1, 2, 0, 2, 2, 4, 7, 5], ["_", "nsubj", "root", "xcomp", "conj", "obj", "nsubj", "acl:relcl"]
)
KINDS = {
    (1, "2:nsubj"): "tree",
    (4, "2:conj:and"): "labels",
    (1, "3:nsubj:xsubj"): "control",
    (1, "4:nsubj"): "shared modifiers",
    (4, "0:root"): "conjoined heads",
    (6, "5:ref"): "ref",
    (5, "7:nsubj"): "relative clauses",
    (5, "2.1:obj"): "empty nodes",
    (5, "2:conj>obj"): "empty nodes",
    (5, "2:obj"): "other",
}


@pytest.mark.parametrize(("arc", "kind"), KINDS.items())
def test_kinds_of_enhancements(arc, kind):
    word, deps = arc
    gold = TREE.with_columns(deps=[deps if w == word else "_" for w in range(1, 8)])
    scores = evaluate([gold], [gold]).graph.by_enhancement
    assert {name: (s.gold, s.found, s.system, s.right) for name, s in scores.items() if s.gold} == {kind: (1, 1, 1, 1)}
    scores = evaluate([gold], [TREE]).graph.by_enhancement
    assert (scores[kind].recall, scores[kind].f1) == (0, 0)


def test_each_file_is_told_by_its_own_tree():
    """He sees and reads: an arc that is extra in the gold tree is the tree's own in the other."""
    words = Sentence.of(["He", "sees", "reads"], deps=["2:nsubj|3:nsubj", "0:root", "2:conj"])
    gold = words.with_tree([-1, 2, 0, 2], ["_", "nsubj", "root", "conj"])
    system = words.with_tree([-1, 3, 0, 2], ["_", "nsubj", "root", "conj"])
    scores = evaluate([gold], [system]).graph.by_enhancement
    shared, other = scores["shared modifiers"], scores["other"]
    assert (shared.gold, shared.found, shared.system) == (1, 1, 0)
    assert (other.gold, other.system, other.right) == (0, 1, 1)


def test_first_sentences_of_a_real_treebank(treebanks, tmp_path):
    gold = list(islice(crossarc.read(treebanks / "English-EWT" / "dev.conllu"), 150))
    assert_official(gold, list(disturbed_graphs(gold, 1)), tmp_path)
