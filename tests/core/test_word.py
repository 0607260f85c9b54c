from __future__ import annotations

from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crossarc.core import InputError, Sentence
from crossarc.testing import random_treebank

HEARING = Sentence.of(
    ["A", "hearing", "is", "scheduled", "on", "the", "issue", "today", "."],
    upos=["DET", "NOUN", "AUX", "VERB", "ADP", "DET", "NOUN", "NOUN", "PUNCT"],
    feats=["_", "Number=Sing", "Mood=Ind|Tense=Pres", "_", "_", "_", "Number=Sing", "_", "_"],
    misc=["ArcProb=0.9|Typo", *["_"] * 8],
).with_tree(
    [-1, 2, 4, 4, 0, 7, 7, 2, 4, 4],
    ["_", "det", "nsubj:pass", "aux:pass", "root", "case", "det", "nmod", "obl", "punct"],
)


def forms(words):
    return [word.form for word in words]


def test_a_word_knows_its_neighbours():
    hearing = HEARING[2]
    assert hearing.head == HEARING[4] == HEARING.root
    assert forms(hearing.children) == ["A", "issue"]
    assert forms(hearing.subtree) == ["A", "hearing", "on", "the", "issue"]
    assert forms(HEARING[6].ancestors) == ["issue", "hearing", "scheduled"]
    assert HEARING[4].head is None
    assert HEARING[4].is_root
    assert not hearing.is_root


def test_a_word_knows_its_columns():
    word = HEARING[3]
    assert (word.form, word.lemma, word.upos, word.xpos, word.deprel, word.deps) == (
        "is",
        "_",
        "AUX",
        "_",
        "aux:pass",
        "_",
    )
    assert word.feats == {"Mood": "Ind", "Tense": "Pres"}
    assert HEARING[1].misc == {"ArcProb": "0.9", "Typo": ""}
    assert (str(word), repr(word)) == ("is", "<Word 3: 'is'>")


def test_probabilities_are_those_of_misc():
    assert HEARING[1].probability == 0.9
    assert HEARING[2].probability is None
    for value in ("2", "high", "nan"):
        with pytest.raises(InputError, match="not a probability"):
            _ = Sentence.of(["a"], misc=[f"ArcProb={value}"])[1].probability


def test_paths_go_up_and_down():
    assert forms(HEARING[6].path_to(HEARING[8])) == ["the", "issue", "hearing", "scheduled", "today"]
    assert forms(HEARING[1].path_to(HEARING[4])) == ["A", "hearing", "scheduled"]
    assert forms(HEARING[4].path_to(HEARING[1])) == ["scheduled", "hearing", "A"]
    assert HEARING[5].path_to(HEARING[5]) == [HEARING[5]]
    with pytest.raises(ValueError, match="another sentence"):
        HEARING[1].path_to(Sentence.of(["a"])[1])


@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_paths_and_subtrees_are_right_for_all_heads_there_can_be(n):
    """Compared with the closure of the arcs, for trees and for what is none."""
    for heads in product(range(-1, n + 1), repeat=n):
        sentence = Sentence.of(["x"] * n).with_tree([-1, *heads])
        arcs = {(h, m) for m, h in enumerate(heads, 1) if h > 0}
        below = np.eye(n + 1, dtype=bool)
        for _ in range(n):
            for h, m in arcs:
                below[h] |= below[m]
        for word in sentence:
            assert {w.id for w in word.subtree} == set(np.flatnonzero(below[word.id]).tolist())
            assert {w.id for w in word.ancestors} == {h for h in range(1, n + 1) if any_path(h, word.id, arcs)}
            for other in sentence:
                path = [w.id for w in word.path_to(other)]
                assert all((a, b) in arcs or (b, a) in arcs for a, b in pairwise(path))
                meet = bool((below[:, word.id] & below[:, other.id]).any())
                assert bool(path) == meet
                assert not path or (path[0], path[-1]) == (word.id, other.id)


def any_path(head, word, arcs):
    """Whether at least one arc leads from the head down to the word."""
    reached, old = {m for h, m in arcs if h == head}, None
    while reached != old:
        old = set(reached)
        reached |= {m for h, m in arcs if h in reached}
    return word in reached


def test_roots_are_the_children_of_node_0():
    two = Sentence.of(["a", "b", "c"]).with_tree([-1, 0, 1, 0])
    assert forms(two.roots) == ["a", "c"]
    assert two.root.form == "a"
    assert two.children == [[1, 3], [2], [], []]
    with pytest.raises(ValueError, match="no word is the root"):
        _ = Sentence.of(["a"]).root


@pytest.mark.parametrize(
    ("conditions", "found"),
    [
        ({"deprel": "nsubj:pass", "head__upos": "VERB"}, ["hearing"]),
        ({"upos": {"DET", "PUNCT"}}, ["A", "the", "."]),
        ({"upos": "DET", "head__head__form": "hearing"}, ["the"]),
        ({"child__deprel": "det"}, ["hearing", "issue"]),
        ({"child__child__form": "the"}, ["hearing"]),
        ({"feats__Number": "Sing", "form": str.islower}, ["hearing", "issue"]),
        ({"misc__Typo": ""}, ["A"]),
        ({"head__form": "scheduled", "deprel": lambda label: label.startswith("ob")}, ["today"]),
        ({"form": "hearing", "upos": "VERB"}, []),
        ({}, list(HEARING.form)),
    ],
)
def test_words_are_found_by_what_they_are(conditions, found):
    assert forms(HEARING.find(**conditions)) == found


@pytest.mark.parametrize("condition", ["colour", "head", "head__colour", "upos__Number", "feats__"])
def test_what_cannot_be_looked_for_is_refused(condition):
    with pytest.raises(TypeError, match="cannot look for"):
        HEARING.find(**{condition: "x"})


@given(st.integers(0, 2**32 - 1))
def test_look_ups_over_columns_are_those_over_words(seed):
    for sentence in random_treebank(3, seed=seed):
        label, tag = sentence.deprel[0], sentence.upos[-1]
        expected = [
            w for w in sentence if w.head and w.head.upos == tag and any(child.deprel == label for child in w.children)
        ]
        assert sentence.find(head__upos=tag, child__deprel=label) == expected


def test_a_notebook_draws_the_tree_with_its_probabilities():
    svg = HEARING._repr_svg_()
    assert svg.startswith("<svg")
    assert svg.count('class="arc') == 9
    assert "crossing-1" in svg
    assert 'data-probability="0.9' in svg
    assert Sentence.of(["a", "b"])._repr_svg_() is None
    assert Sentence.of(["a"], head=["7"])._repr_svg_() is None
