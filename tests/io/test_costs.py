"""Sentences that are made to take long: the time grows with their length, so that these tests end at once or never."""

from __future__ import annotations

import pytest

import crossarc
from commands import assert_one_line_error, run
from crossarc.core.sentence import word_ids
from crossarc.io.conllu import line_ids, valid_heads
from crossarc.io.validate import problems_by_sentence

MANY = 50_000


def rows(heads):
    return "".join(f"{i}\tw\t_\t_\t_\t_\t{head}\tx\t_\t_\n" for i, head in enumerate(heads, 1)) + "\n"


@pytest.mark.parametrize(
    ("heads", "problems"),
    [
        (range(1, MANY + 1), MANY),  # every word is its own head
        ([i + 1 if i % 2 else i - 1 for i in range(1, MANY + 1)], MANY // 2),  # two words are each other's
        ([*range(2, MANY + 1), 1], 1),  # one large cycle
    ],
)
def test_many_cycles(heads, problems, tmp_path):
    path = tmp_path / "x.conllu"
    path.write_text(rows(heads))
    ((_, found),) = problems_by_sentence(path)
    assert len(found) == problems
    assert all(len(error.message) < 200 for error in found)


def test_many_multiword_tokens(tmp_path):
    path = tmp_path / "x.conllu"
    token = "{0}-{0}\tw\t_\t_\t_\t_\t_\t_\t_\t_\n{0}\tw\t_\t_\t_\t_\t_\tx\t_\t_\n"
    path.write_text("".join(token.format(i) for i in range(1, MANY + 1)) + "\n")
    (sentence,) = crossarc.read(path)
    assert sentence.with_columns().to_conllu() == path.read_text()
    ((_, found),) = problems_by_sentence(path)
    assert [error.place.line for error in found] == [2 * i for i in range(1, MANY + 1)]


def test_what_is_remembered_of_lengths_is_bounded():
    for function in (word_ids, line_ids, valid_heads):
        assert function(5) is function(5)
        assert function(5000) is not function(5000)
        assert len(function(5000)) >= 5000


def test_sentences_that_are_too_long_to_be_drawn(tmp_path):
    path = tmp_path / "x.conllu"
    path.write_text(rows(range(3000)) + rows(range(3)))
    for suffix in ("svg", "tex", "txt"):
        target = tmp_path / f"x.{suffix}"
        assert_one_line_error(run("draw", path, "-o", target), "x.conllu:1: 3000 words are too many for a picture")
        assert not target.exists()
        assert run("draw", path, "-o", target, "--on-error", "skip").returncode == 0
        assert target.stat().st_size > 0
