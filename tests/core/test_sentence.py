from __future__ import annotations

import numpy as np
import pytest

from crossarc.core import Insert, Sentence, Word


def test_columns_that_are_not_given_are_unknown():
    sentence = Sentence.of(["a", "b"], upos=["X", "Y"])
    assert sentence.upos == ("X", "Y")
    assert sentence.lemma == sentence.head == ("_", "_")
    assert len(sentence) == 2


def test_wrong_columns_are_refused():
    with pytest.raises(TypeError, match="unknown column: colour"):
        Sentence.of(["a"], colour=["red"])
    with pytest.raises(ValueError, match="upos has 2 entries for 1 words"):
        Sentence.of(["a"], upos=["X", "Y"])


def test_words_are_views_counted_from_one():
    sentence = Sentence.of(["a", "b"])
    assert [word.id for word in sentence] == ["1", "2"]
    assert sentence[2] == Word("2", "b", *["_"] * 8)
    for outside in (0, 3):
        with pytest.raises(IndexError):
            sentence[outside]


def test_heads_and_with_tree_are_inverse():
    sentence = Sentence.of(["a", "b", "c"], deprel=["x", "y", "z"])
    assert sentence.heads.tolist() == [-1, -1, -1, -1]
    parsed = sentence.with_tree(np.array([-1, 2, 0, 2]))
    assert parsed.head == ("2", "0", "2")
    assert parsed.deprel == ("x", "y", "z")
    assert parsed.with_tree(parsed.heads) == parsed
    assert sentence.head == ("_", "_", "_")
    with pytest.raises(ValueError, match="n\\+1"):
        sentence.with_tree([2, 0, 2])
    with pytest.raises(ValueError, match="labels"):
        sentence.with_tree([-1, 2, 0, 2], ["x"])


def test_metadata_and_places():
    columns = Sentence.of(["a", "b"]).columns
    insert = Insert(0, Word("1-2", "ab", *["_"] * 8))
    sentence = Sentence(columns, ("# text = x = y", "#sent_id=s7"), (insert,), "f.conllu", 10)
    assert sentence.sent_id == "s7"
    assert sentence.metadata("text") == "x = y"
    assert sentence.metadata("newdoc") is None
    assert str(sentence.place()) == "f.conllu:10: sentence s7"
    assert sentence.place(2).line == 14
    assert list(insert.span) == [1, 2]
