"""The segmenter: what it promises of any text and any treebank."""

from __future__ import annotations

import time

import pytest
from components import TEST, TRAIN, contracted, segmenter
from hypothesis import given
from hypothesis import strategies as st

from crossarc.core import Insert, Row, Sentence
from crossarc.text import Segmenter, text_of
from crossarc.text.boundaries import _alike, _views, character_kind, places_in_chunk
from crossarc.text.lexicon import RUNS
from crossarc.text.treebank import paragraphs_of


def words_of(token: str) -> list[str]:
    return segmenter().multiword.split[token]


def test_unseen_text_is_cut_as_in_the_treebank():
    text = " ".join(text_of([sentence]).strip() for sentence in _with_usual_spaces(TEST))
    found = segmenter().apply(text)
    assert [sentence.form for sentence in found] == [sentence.form for sentence in TEST]


def _with_usual_spaces(sentences):
    for paragraph in paragraphs_of(sentences):
        for sentence, tokens in zip(sentences, paragraph, strict=True):
            yield sentence.with_columns(misc=[token.misc for token in tokens])


@given(st.text(alphabet=st.sampled_from("aB1 .,!?'\"-\n\t\r\u00a0\u2028éß中_#|\\"), max_size=60), st.booleans())
def test_the_text_can_be_restored(text, lines):
    sentences = segmenter().apply(text, lines=lines)
    assert text_of(sentences) == (text if text.strip() else "")
    assert all(len(sentence) for sentence in sentences)
    assert not any(set(form) & set(" \n\t") for sentence in sentences for form in sentence.form)


def test_blank_lines_end_paragraphs_and_lines_if_asked():
    text = "one two\nthree\n \nfour"
    paragraphs = [s.sent_id.split("-")[0] for s in segmenter().apply(text, paragraph=7)]
    assert paragraphs == sorted(paragraphs)
    assert set(paragraphs) == {"p7", "p8"}
    lines = segmenter().apply(text, lines=True)
    assert {s.sent_id.split("-")[0] for s in lines} == {"p1", "p2", "p3"}
    assert lines[0].comments[:2] == ("# newdoc", "# newpar id = p1")
    assert lines[0].metadata("text") == "one two"


def test_tokens_of_several_words_are_split_as_the_treebank_does():
    known = next(insert.row.form for s in map(contracted, TRAIN[1::2]) for insert in s.inserts)
    first, _, rest = known.partition("'")
    assert words_of(known) == [first, f"'{rest}"]
    assert words_of(known.upper()) == [first.upper(), f"'{rest}".upper()]
    assert words_of("nothing") == ["nothing"]


def test_a_word_may_be_part_of_no_form():
    german = [Sentence.of(["von", "dem", "Haus"]).with_columns(misc=["_"] * 3) for _ in range(3)]
    german = [Sentence(s.columns, (), (Insert(0, Row("1-2", "vom", *["_"] * 8)),)) for s in german]
    (sentence,) = Segmenter.train(german).apply("Vom Haus")
    assert sentence.form == ("Von", "dem", "Haus")
    assert sentence.inserts[0].row.form == "Vom"
    assert text_of([sentence]) == "Vom Haus"


@given(st.text(alphabet="aB1.-'ßİ", min_size=2, max_size=30))
def test_what_is_seen_from_a_place_is_what_its_names_say(chunk):
    """The fast way to it, compared with cutting the chunk in two at each place."""
    lower = chunk.lower() if len(chunk.lower()) == len(chunk) else chunk
    kinds = "".join(map(character_kind, chunk))
    places = places_in_chunk(chunk)
    for i, seen in zip(places, _views(chunk, places, "x"), strict=True):
        left, right = lower[:i], lower[i:]
        last = len(kinds[:i]) - len(kinds[:i].rstrip(_alike(kinds[i - 1])))
        first = len(kinds[i:]) - len(kinds[i:].lstrip(_alike(kinds[i])))
        collapsed = RUNS.sub(r"\1", kinds[:i])[-6:], RUNS.sub(r"\1", kinds[i:])[:6]
        ends = left[-2:-1], left[-1:], right[:1], right[1:2]
        kinds_of_ends = kinds[:i][-2:-1], kinds[:i][-1:], kinds[i:][:1], kinds[i:][1:2]
        runs = left[-last:], right[:first]
        assert seen == (*ends, *kinds_of_ends, left[-12:], right[:12], *runs, *collapsed, "x" if len(right) < 3 else "")


@pytest.mark.parametrize("chunk", ["3f9a", "-", "a1+/", "."])
def test_the_time_is_linear_without_spaces(chunk):
    """Work of 16 times the text is near 16 times the work; it would be 256 times if it were quadratic."""

    def processor_time(size: int) -> float:
        loaded = Segmenter.from_model(*segmenter().to_model())  # it remembers nothing
        start = time.process_time()
        loaded.pieces((chunk * size)[:size])
        return time.process_time() - start

    processor_time(100)  # compiles
    assert min(processor_time(32_000) for _ in range(2)) < 60 * min(processor_time(2_000) for _ in range(3))


def test_a_segmenter_survives_a_model():
    text = " ".join(" ".join(sentence.form) for sentence in TEST)
    header, tensors = segmenter().to_model()
    assert "[token-end]" in header["features"]
    assert Segmenter.from_model(header, tensors).apply(text) == segmenter().apply(text)
