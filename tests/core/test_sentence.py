from __future__ import annotations

import numpy as np
import pytest

from crossarc.core import Insert, Row, Sentence


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
    assert [word.id for word in sentence] == [1, 2]
    assert sentence[2].row == Row("2", "b", *["_"] * 8)
    assert sentence[2] == list(sentence)[1] != Sentence.of(["a", "c"])[2]
    assert len({*sentence, *Sentence.of(["a", "b"])}) == 2
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
    insert = Insert(0, Row("1-2", "ab", *["_"] * 8))
    sentence = Sentence(columns, ("# text = x = y", "#sent_id=s7"), (insert,), "f.conllu", 10)
    assert sentence.sent_id == "s7"
    assert sentence.metadata("text") == "x = y"
    assert sentence.metadata("newdoc") is None
    assert str(sentence.place()) == "f.conllu:10: sentence s7"
    assert sentence.place(2).line == 14
    assert list(insert.span) == [1, 2]


def test_reprs_are_short_and_texts_readable():
    words = ["word"] * 400
    sentence = Sentence.of(words, upos=["NOUN"] * 400)
    assert len(repr(sentence)) < 100
    assert repr(sentence).startswith("<Sentence of 400 words: 'word word")
    named = Sentence(Sentence.of(["Yes"]).columns, ("# sent_id = s1",))
    assert repr(named) == "<Sentence s1 of 1 word: 'Yes'>"
    short = Sentence.of(["A", "tree"], upos=["DET", "NOUN"], head=["2", "0"], deprel=["det", "root"])
    assert str(short) == "1  A     DET   2  det\n2  tree  NOUN  0  root"
    assert str(Sentence.of([])) == ""


def test_the_text_is_the_comment_or_the_tokens():
    insert = Insert(1, Row("2-3", "don't", *["_"] * 7, "SpaceAfter=No"))
    empty = Insert(1, Row("1.1", "ghost", *["_"] * 8))
    sentence = Sentence(Sentence.of(["I", "do", "n't", "."]).columns, (), (empty, insert))
    assert sentence.text == "I don't."
    assert Sentence(sentence.columns, ("# text = I  don't .",)).text == "I  don't ."
    assert Sentence.of(["a", "b"], misc=["X=1|SpaceAfter=No", "_"]).text == "ab"
    assert Sentence.of([]).text == ""


def test_to_conllu_has_every_line():
    insert = Insert(0, Row("1-2", "ab", *["_"] * 8))
    sentence = Sentence(Sentence.of(["a", "b"]).columns, ("# sent_id = s1",), (insert,))
    blank = "\t_" * 8
    assert sentence.to_conllu() == f"# sent_id = s1\n1-2\tab{blank}\n1\ta{blank}\n2\tb{blank}\n\n"
