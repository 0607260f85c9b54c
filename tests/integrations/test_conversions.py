"""Sentences as the objects of other libraries, and back."""

from __future__ import annotations

import subprocess
import sys

import pytest

import crossarc
from conftest import HANDMADE
from crossarc.core import CrossarcError, Sentence
from crossarc.integrations._library import library

TREEBANK = list(crossarc.read(HANDMADE))
CROSSING = Sentence.of(["a", "b", "c", "d"], upos=["W", "X", "Y", "Z"], misc=["ArcProb=0.25", "_", "_", "_"]).with_tree(
    [-1, 3, 0, 2, 1], ["_", "w", "root", "y", "z"]
)
GAPS = Sentence.of(["a", "b"]).with_tree([-1, -1, 1], ["_", "_", "x"])


def same(first, second, *columns):
    return all(getattr(first, name) == getattr(second, name) for name in columns)


ALL = ("form", "lemma", "upos", "xpos", "feats", "head", "deprel", "deps", "misc")


@pytest.mark.parametrize("sentence", [*TREEBANK, CROSSING, GAPS], ids=str)
def test_networkx_there_and_back(sentence):
    pytest.importorskip("networkx")
    back = Sentence.from_networkx(sentence.to_networkx())
    assert same(back, sentence, *ALL)
    assert back.comments == sentence.comments


def test_graphs_of_networkx_are_graphs():
    nx = pytest.importorskip("networkx")
    graph = CROSSING.to_networkx()
    assert nx.is_arborescence(graph)
    assert nx.shortest_path(graph, 0, 4) == [0, 2, 3, 1, 4]
    assert graph.edges[3, 1] == {"deprel": "w", "probability": 0.25}
    assert graph.nodes[2]["upos"] == "X"
    graph.add_edge(2, 4)
    with pytest.raises(CrossarcError, match="two heads"):
        Sentence.from_networkx(graph)
    graph.add_node("d")
    with pytest.raises(CrossarcError, match="numbered from 1 to 5"):
        Sentence.from_networkx(graph)


@pytest.mark.parametrize("sentence", [*TREEBANK, CROSSING, GAPS], ids=str)
def test_nltk_there_and_back(sentence):
    pytest.importorskip("nltk")
    back = Sentence.from_nltk(sentence.to_nltk())
    assert same(back, sentence, "form", "lemma", "upos", "xpos", "feats", "head", "deprel")


def test_graphs_of_nltk_are_those_that_it_reads_itself():
    parse = pytest.importorskip("nltk.parse")
    lines = [line for line in CROSSING.to_conllu().splitlines() if line]
    theirs = parse.DependencyGraph("\n".join(lines), cell_separator="\t", top_relation_label="root")
    ours = CROSSING.to_nltk()
    assert ours.nodes == theirs.nodes
    assert ours.root == theirs.root
    assert ours.tree() == theirs.tree()
    assert Sentence.from_nltk(theirs) == CROSSING.with_columns(misc=["_"] * 4)
    theirs.nodes[9]["word"] = "far"
    with pytest.raises(CrossarcError, match="numbered"):
        Sentence.from_nltk(theirs)


def test_conllu_there_and_back():
    conllu = pytest.importorskip("conllu")
    text = "".join(sentence.to_conllu() for sentence in TREEBANK)
    theirs = conllu.parse(text)
    assert [sentence.to_tokenlist() for sentence in TREEBANK] == theirs
    for ours, tokens in zip(TREEBANK, theirs, strict=True):
        back = Sentence.from_tokenlist(tokens)
        assert back.columns == ours.columns
        assert back.inserts == ours.inserts
        assert back.sent_id == ours.sent_id
    assert theirs[0].to_tree().children  # of the package


def test_displacy_there_and_back():
    for sentence in TREEBANK:
        back = Sentence.from_displacy(sentence.to_displacy())
        assert same(back, sentence, "form", "upos", "lemma")
        assert [(h, r) for h, r in zip(back.head, back.deprel, strict=True) if h != "0"] == [
            (h, r) for h, r in zip(sentence.head, sentence.deprel, strict=True) if h not in ("0", "_")
        ]
    arc = {"start": 0, "end": 4, "label": "x", "dir": "left"}
    with pytest.raises(CrossarcError, match="no arc of a tree"):
        Sentence.from_displacy({**CROSSING.to_displacy(), "arcs": [arc]})


def test_displacy_draws_it():
    displacy = pytest.importorskip("spacy.displacy")
    svg = displacy.render(CROSSING.to_displacy(), style="dep", manual=True, jupyter=False)
    assert svg.count('class="displacy-arc"') == 3


def test_data_frames_take_rows():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame([word.row for word in CROSSING])
    assert list(frame.columns)[:3] == ["id", "form", "lemma"]
    assert frame.deprel.tolist() == list(CROSSING.deprel)


def test_a_library_that_is_missing_is_one_line():
    with pytest.raises(CrossarcError, match="no_such_library is not installed: pip install no_such_library"):
        library("no_such_library.part")


def test_reading_treebanks_imports_none_of_them():
    program = (
        "import sys, crossarc; list(crossarc.read(sys.argv[1]))[0].find(upos='X')\n"
        "print({'networkx', 'nltk', 'conllu', 'spacy', 'numba'} & set(sys.modules))"
    )
    found = subprocess.run([sys.executable, "-c", program, str(HANDMADE)], capture_output=True, text=True, check=True)
    assert found.stdout == "set()\n"
