"""Tables of sentences: nothing is lost on the way there and back, and what is no sentence is said in one line."""

from __future__ import annotations

import string

import pandas
import pyarrow
import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_conllu import HARD

import crossarc
from commands import assert_one_line_error, run
from crossarc.core import InputError, Sentence
from crossarc.testing import random_treebank


def there_and_back(sentences):
    return "".join(sentence.to_conllu() for sentence in crossarc.from_arrow(crossarc.to_arrow(sentences)))


@pytest.mark.parametrize("text", HARD.values(), ids=HARD.keys())
def test_hard_cases_survive(text, tmp_path):
    source, table, target = tmp_path / "in.conllu", tmp_path / "x.parquet", tmp_path / "out.conllu"
    source.write_bytes(text.encode())
    assert run("convert", source, "-o", table).returncode == 0
    assert run("convert", table, "-o", target).returncode == 0
    assert target.read_bytes() == text.encode()
    assert there_and_back(crossarc.read(source)) == text


def test_handmade_treebank_survives_on_every_way(tmp_path, handmade):
    text = handmade.read_bytes()
    for table, back in [("x.parquet", "x.conllu"), ("y.parquet", "y.conllu.zst"), ("z.parquet", "z.conllu.gz")]:
        crossarc.write(crossarc.read(handmade), tmp_path / table)
        crossarc.write(crossarc.read(tmp_path / table), tmp_path / back)
        assert "".join(s.to_conllu() for s in crossarc.read(tmp_path / back)).encode() == text
    through_pipes = run("convert", "--from", "parquet", "-", stdin=(tmp_path / "x.parquet").read_bytes())
    assert through_pipes.stdout == text
    assert run("convert", "--to", "parquet", handmade).stdout == (tmp_path / "x.parquet").read_bytes()


field = st.text(st.sampled_from(string.ascii_letters + "_=|#.é𝒳\u2028\r "), min_size=1, max_size=5)


@given(st.data())
def test_sentences_survive(data):
    n = data.draw(st.integers(1, 5))
    columns = {
        name: data.draw(st.lists(field, min_size=n, max_size=n))
        for name in ("lemma", "upos", "xpos", "feats", "deprel", "deps", "misc")
    }
    head = data.draw(st.lists(st.sampled_from(["_", *map(str, range(n + 1))]), min_size=n, max_size=n))
    sentence = Sentence.of(data.draw(st.lists(field, min_size=n, max_size=n)), head=head, **columns)
    assert there_and_back([sentence]) == sentence.to_conllu()


def test_many_batches_and_documents_keep_their_order():
    trees = list(random_treebank(9000, seed=1))
    table = crossarc.to_arrow(trees)
    assert len(table.to_batches()) > 2
    assert table["sent_id"].to_pylist() == [tree.sent_id for tree in trees]
    assert [s.columns for s in crossarc.from_arrow(table)] == [tree.columns for tree in trees]


def test_documents_are_those_that_the_comments_name():
    comments = [(), ("# newdoc id = a",), (), ("# newdoc",), ("# newpar", "# newdoc id = b"), ()]
    trees = [Sentence((("x",), *[("_",)] * 8), own) for own in comments]
    assert crossarc.to_arrow(trees)["doc_id"].to_pylist() == [None, "a", "a", None, "b", "b"]


def test_a_table_made_elsewhere_needs_only_words():
    table = pyarrow.table({"form": [["Go"], ["On", "!"]], "doc_id": ["d", "d"], "sent_id": ["s1", "s2"]})
    first, second = crossarc.from_arrow(table)
    assert first.comments == ("# newdoc id = d", "# sent_id = s1")
    assert second.comments == ("# sent_id = s2",)
    assert second.head == ("_", "_")


def test_a_data_frame_has_a_row_for_each_sentence_or_each_word():
    trees = [Sentence.of(["Go", "on"], head=["0", "1"]), Sentence.of(["Yes"], head=["_"])]
    frame = crossarc.to_pandas(trees)
    words = frame.explode(["id", "form", "head"])
    assert words["form"].tolist() == ["Go", "on", "Yes"]
    back = crossarc.from_arrow(pyarrow.Table.from_pandas(pandas.DataFrame(frame[["form", "head"]])))
    assert [sentence.head for sentence in back] == [("0", "1"), ("_",)]


def test_probabilities_are_numbers():
    tree = Sentence.of(["Go", "on"], misc=["SpaceAfter=No|ArcProb=0.9712|RelProb=0.9503", "_"])
    table = crossarc.to_arrow(tree, probabilities=True)
    assert table["arc_prob"].to_pylist() == [[pytest.approx(0.9712), None]]
    assert table["rel_prob"].to_pylist() == [[pytest.approx(0.9503), None]]
    assert next(crossarc.from_arrow(table)).misc == tree.misc


BROKEN = {
    "no column 'form'": {"words": [["a"]]},
    "row 2 is not a sentence: upos has 1 items for 2 words": {"form": [["a"], ["a", "b"]], "upos": [["X"], ["X"]]},
    "row 1 is not a sentence: 2 cannot be a head": {"form": [["a"]], "head": [[2]]},
    "row 1 is not a sentence: 0.5 cannot be a head": {"form": [["a"]], "head": [[0.5]]},
    "row 1 is not a sentence: form is empty, or has": {"form": [["a\tb"]]},
    "row 1 is not a sentence: lemma is empty, or has": {"form": [["a"]], "lemma": [[""]]},
    "row 1 is not a sentence": {"form": [None]},
    "a comment that is not one line": {"form": [["a"]], "comments": [["# a\n1"]]},
}


@pytest.mark.parametrize(("message", "columns"), BROKEN.items(), ids=BROKEN.keys())
def test_what_is_no_sentence_is_said(message, columns):
    with pytest.raises(InputError, match=message):
        list(crossarc.from_arrow(pyarrow.table(columns)))


def test_broken_files_are_one_line_errors(tmp_path, handmade):
    whole = tmp_path / "whole.parquet"
    crossarc.write(crossarc.read(handmade), whole)
    cut, other = tmp_path / "cut.parquet", tmp_path / "other.parquet"
    cut.write_bytes(whole.read_bytes()[:-20])
    pyarrow.parquet.write_table(pyarrow.table({"text": ["a"]}), other)
    assert_one_line_error(run("convert", cut), "cut.parquet", "not a Parquet file, or a truncated or damaged one")
    for place in range(100, 1000, 100):
        cut.write_bytes(whole.read_bytes()[:place] + bytes(50) + whole.read_bytes()[place + 50 :])
        assert_one_line_error(run("convert", cut), "cut.parquet", "a truncated or damaged one")
    assert_one_line_error(run("convert", other), "other.parquet", "no column 'form'")
    assert_one_line_error(run("convert", tmp_path / "none.parquet"), "none.parquet", "no such file")
    assert_one_line_error(run("convert", handmade, "-o", tmp_path / "x.parquet", "--crlf"), "no lines", hint="--help")


def test_broken_rows_can_be_left_out(tmp_path):
    source = tmp_path / "x.parquet"
    pyarrow.parquet.write_table(pyarrow.table({"form": [["a"], ["b"]], "head": [[0], [9]]}), source)
    result = run("convert", source, "--on-error", "skip")
    assert result.stdout.startswith(b"1\ta\t")
    assert b"left out" in result.stderr
    assert b"row 2" in result.stderr


def test_truncated_and_foreign_zst_files_are_input_errors(tmp_path, handmade):
    whole, cut, foreign = (tmp_path / f"{name}.conllu.zst" for name in ("whole", "cut", "foreign"))
    crossarc.write(crossarc.read(handmade), whole)
    assert [s.form for s in crossarc.read(whole)] == [s.form for s in crossarc.read(handmade)]
    cut.write_bytes(whole.read_bytes()[:-5])
    foreign.write_bytes(b"1\tnot compressed")
    for broken in (cut, foreign):
        with pytest.raises(InputError, match="damaged or truncated compressed file"):
            list(crossarc.read(broken))


def test_without_the_library_one_line_says_what_to_install(monkeypatch, handmade, tmp_path):
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
    assert_one_line_error(run("convert", handmade, "-o", tmp_path / "x.parquet"), "pip install '.[arrow]'")
