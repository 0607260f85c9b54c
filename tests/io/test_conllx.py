"""CoNLL-X: words only, PHEAD and PDEPREL kept on the way through CoNLL-U."""

from __future__ import annotations

import pytest

import crossarc
from crossarc.core import InputError
from crossarc.io.conllu import format_sentence as format_conllu
from crossarc.io.conllx import format_sentence, lost_in_conllx

DANISH_STYLE = (
    "1\tTo\tto\tA\tAC\tcase=unmarked\t2\tnobj\t2\tnobj\n"
    "2\tsmå\tlille\tA\tAN\t_\t0\tROOT\t_\t_\n"
    "3\t#\t_\tX\tXP\ta|b\t2\tpnct\t2\t_\n\n"
)


def test_conllx_survives_conllu(tmp_path):
    source, between, target = (tmp_path / name for name in ("a.conll", "b.conllu", "c.conllx"))
    source.write_text(DANISH_STYLE)
    crossarc.write(crossarc.read(source), between)
    crossarc.write(crossarc.read(between), target)
    assert target.read_text() == DANISH_STYLE
    (sentence,) = crossarc.read(between)
    assert sentence.misc == ("PHead=2|PDeprel=nobj", "_", "PHead=2")
    assert not +lost_in_conllx(sentence)


@pytest.mark.parametrize(
    "value", ["a|b", "|", "%", "%7C", "50%25", "100%|%7C", "a\r", "\r", "_|_", "PHead=1|PDeprel=x"]
)
@pytest.mark.parametrize("column", [8, 9])
def test_all_values_of_phead_and_pdeprel_survive(value, column):
    row = ["1", "x", "_", "_", "_", "_", "0", "root", "_", "_"]
    row[column] = value
    text = "\t".join(row) + ("\n\n" if column == 8 or not value.endswith("\r") else "x\n\n")
    (sentence,) = crossarc.read_string(text, format="conllx")
    between = format_conllu(sentence)
    (back,) = crossarc.read_string(between)
    assert format_sentence(back) == text


def test_no_output_is_unreadable():
    row = "1\ta b\tc d\t_\t_\t_\t0\tx y\t_\tPHead=|PDeprel=a b|SpaceAfter=No\n\n"
    (sentence,) = crossarc.read_string(row)
    text = format_sentence(sentence)
    assert text == "1\ta_b\tc_d\t_\t_\t_\t0\tx_y\t_\ta_b\n\n"
    assert list(crossarc.read_string(text, format="conllx"))
    assert +lost_in_conllx(sentence) == {"values with spaces": 3, "values of MISC": 1}


def test_what_conllx_cannot_hold_is_counted(handmade, tmp_path):
    sentences = list(crossarc.read(handmade))
    lost = sum((lost_in_conllx(s) for s in sentences), start=lost_in_conllx(sentences[0]).__class__())
    assert lost["comments"] == sum(len(s.comments) for s in sentences)
    assert lost["multiword tokens"] + lost["empty nodes"] == sum(len(s.inserts) for s in sentences) > 0
    crossarc.write(sentences, tmp_path / "x.conllx")
    back = list(crossarc.read(tmp_path / "x.conllx"))
    assert [s.head for s in back] == [s.head for s in sentences]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("# a comment\n" + DANISH_STYLE, "1 column instead of 10"),
        (DANISH_STYLE.replace("1\tTo", "1-2\tTo"), "ID '1-2': CoNLL-X has words only"),
        (DANISH_STYLE.replace("\t0\t", "\t9\t"), "HEAD 9 of word 2 is out of range"),
        (DANISH_STYLE.replace("lille", "lille en"), ":2: a space in LEMMA: CoNLL-X has none within columns"),
    ],
)
def test_broken_conllx(text, message, tmp_path):
    path = tmp_path / "x.conll"
    path.write_text(text)
    with pytest.raises(InputError, match=message):
        list(crossarc.read(path))
