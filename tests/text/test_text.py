"""Segmenter, tagger and lemmatiser: what they promise of any text and any treebank."""

from __future__ import annotations

from functools import cache
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crossarc.core import Insert, Sentence, Word
from crossarc.io.text import count_paragraphs, read_text
from crossarc.testing import random_treebank
from crossarc.text import Lemmatizer, Segmenter, Tagger, text_of, train_lemmatizer, train_segmenter
from crossarc.text.lemmatizer import apply_script, script_of
from crossarc.text.tagger import Training
from crossarc.text.treebank import paragraphs_of

TREEBANK = list(random_treebank(240, seed=5))
TRAIN, TEST = TREEBANK[:200], TREEBANK[200:]


def contracted(sentence: Sentence) -> Sentence:
    """The sentence with its first two words as one token, by an apostrophe."""
    first, second = sentence.form[0], f"'{sentence.form[1]}"
    token = Insert(0, Word("1-2", first + second, *["_"] * 8))
    return Sentence(
        ((first, second, *sentence.form[2:]), *sentence.columns[1:]), sentence.comments, (token,), "<memory>", 0
    )


@cache
def segmenter() -> Segmenter:
    return train_segmenter([contracted(s) if i % 2 and len(s) > 2 else s for i, s in enumerate(TRAIN)])


@cache
def training() -> Training:
    return Training(TRAIN, seed=1, folds=4)


@cache
def tagger() -> Tagger:
    return training().run()


def test_unseen_text_is_cut_as_in_the_treebank():
    text = " ".join(text_of([sentence]).strip() for sentence in _with_usual_spaces(TEST))
    found = segmenter().segment(text)
    assert [sentence.form for sentence in found] == [sentence.form for sentence in TEST]


def _with_usual_spaces(sentences):
    for paragraph in paragraphs_of(sentences):
        for sentence, tokens in zip(sentences, paragraph, strict=True):
            yield sentence.with_columns(misc=[token.misc for token in tokens])


@given(st.text(alphabet=st.sampled_from("aB1 .,!?'\"-\n\t\r\u00a0\u2028éß中_#|\\"), max_size=60), st.booleans())
def test_the_text_can_be_restored(text, lines):
    sentences = segmenter().segment(text, lines=lines)
    assert text_of(sentences) == (text if text.strip() else "")
    assert all(len(sentence) for sentence in sentences)
    assert not any(set(form) & set(" \n\t") for sentence in sentences for form in sentence.form)


def test_blank_lines_end_paragraphs_and_lines_if_asked():
    text = "one two\nthree\n \nfour"
    paragraphs = [s.sent_id.split("-")[0] for s in segmenter().segment(text, paragraph=7)]
    assert paragraphs == sorted(paragraphs)
    assert set(paragraphs) == {"p7", "p8"}
    lines = segmenter().segment(text, lines=True)
    assert {s.sent_id.split("-")[0] for s in lines} == {"p1", "p2", "p3"}
    assert lines[0].comments[:2] == ("# newdoc", "# newpar id = p1")
    assert lines[0].metadata("text") == "one two"


def test_tokens_of_several_words_are_split_as_the_treebank_does():
    known = next(insert.row.form for s in map(contracted, TRAIN[1::2]) for insert in s.inserts)
    first, _, rest = known.partition("'")
    assert segmenter().words_of(known) == [first, f"'{rest}"]
    assert segmenter().words_of(known.upper()) == [first.upper(), f"'{rest}".upper()]
    assert segmenter().words_of("nothing") == ["nothing"]


def test_a_word_may_be_part_of_no_form():
    german = [Sentence.of(["von", "dem", "Haus"]).with_columns(misc=["_"] * 3) for _ in range(3)]
    german = [Sentence(s.columns, (), (Insert(0, Word("1-2", "vom", *["_"] * 8)),)) for s in german]
    (sentence,) = train_segmenter(german).segment("Vom Haus")
    assert sentence.form == ("Von", "dem", "Haus")
    assert sentence.inserts[0].row.form == "Vom"
    assert text_of([sentence]) == "Vom Haus"


@given(st.lists(st.sampled_from(["a b", "c", " ", "\n", "\n\n", "\r\n \r\n", "é"]), max_size=40), st.booleans())
def test_reading_a_text_in_pieces_loses_nothing(parts, lines):
    content = "".join(parts)

    class Slowly:
        def __init__(self):
            self.rest = content.encode()

        def read1(self, size):
            piece, self.rest = self.rest[:size], self.rest[size:]
            return piece

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("crossarc.io.text._CHUNK", 5)
        if not content.strip():
            with pytest.raises(ValueError, match="no text in this file"):
                list(read_text(Slowly(), "x.txt", lines=lines))
            return
        blocks = list(read_text(Slowly(), "x.txt", lines=lines))
    assert "".join(block.content for block in blocks) == content
    for block, following in pairwise(blocks):
        assert following.paragraph == block.paragraph + count_paragraphs(block.content, lines=lines)
    assert sum(count_paragraphs(block.content, lines=lines) for block in blocks) == count_paragraphs(
        content, lines=lines
    )


def test_tags_of_unseen_sentences():
    tagged = tagger().tag([Sentence.of(sentence.form) for sentence in TEST])
    words = [(a, b) for gold, own in zip(TEST, tagged, strict=True) for a, b in zip(gold.upos, own.upos, strict=True)]
    assert sum(a == b for a, b in words) > 0.9 * len(words)
    assert all(tag in tagger().tags for own in tagged for tag in zip(own.upos, own.xpos, own.feats, strict=True))


def test_a_sentence_is_tagged_the_same_in_any_company():
    bare = [Sentence.of(sentence.form) for sentence in [*TEST, Sentence.of([])]]
    assert [tagger().tag([sentence])[0] for sentence in bare] == tagger().tag(bare)


def test_the_second_pass_chooses_among_the_near_best():
    first = tagger().first
    items, choices = tagger().lexicon.items([sentence.form for sentence in TEST])
    near = first.narrow(items, choices, 0.5)
    np.testing.assert_array_equal(near.first, first.choose(items, choices))
    places = (first._hashes(items)[items.rows] >> first.shift).astype(np.int64)
    for i, number in enumerate(choices.lists):
        classes = choices.classes[choices.bounds[number] : choices.bounds[number + 1]]
        scores = first.weights[places[i][:, None, None] + first.aspects[classes]].sum(axis=(0, 2))
        kept = near.classes[near.bounds[i] : near.bounds[i + 1]].tolist()
        assert kept[0] == classes[scores.argmax()]
        assert set(classes[scores > scores.max() - 0.499].tolist()) <= set(kept)
        assert set(kept) <= set(classes[scores > scores.max() - 0.501].tolist())


def test_cross_validation_keeps_a_tagger_from_what_it_tags():
    # A word of the last sentence alone is unknown to the tagger that tags it, and to no other
    odd = TRAIN[-1].with_columns(form=["zzz", *TRAIN[-1].form[1:]], upos=["ODD", *TRAIN[-1].upos[1:]])
    training = Training([*TRAIN[:-1], odd], seed=1, folds=4)
    assert training.cross_tagged()[-1].upos[0] != "ODD"
    assert training.run().tag([odd])[0].upos[0] == "ODD"


def test_parts_survive_their_arrays():
    text = " ".join(" ".join(sentence.form) for sentence in TEST)
    loaded = Segmenter.of_tensors(segmenter().tensors())
    assert loaded.segment(text) == segmenter().segment(text)
    assert Tagger.of_tensors(tagger().tensors()).tag(TEST) == tagger().tag(TEST)
    lemmatizer = train_lemmatizer(TRAIN)
    assert Lemmatizer.of_tensors(lemmatizer.tensors()).lemmatize(TEST) == lemmatizer.lemmatize(TEST)


@given(st.text(alphabet="abcABCßİ ", min_size=1, max_size=8), st.text(alphabet="abcABCßi ", max_size=8))
def test_a_script_makes_the_lemma_of_its_form(form, lemma):
    assert apply_script(script_of(form, lemma), form) == lemma


def test_lemmas_come_from_the_treebank_or_from_words_with_the_same_end():
    treebank = [
        Sentence.of(["Cats", "walked"], lemma=["cat", "walk"], upos=["NOUN", "VERB"]),
        Sentence.of(["dogs", "talked"], lemma=["dog", "talk"], upos=["NOUN", "VERB"]),
        Sentence.of(["words", "ended"], lemma=["word", "end"], upos=["NOUN", "VERB"]),
        Sentence.of(["mice", "went"], lemma=["mouse", "go"], upos=["NOUN", "VERB"]),
    ]
    words = Sentence.of(["Mice", "birds", "balked", "went"], upos=["NOUN", "NOUN", "VERB", "VERB"])
    assert train_lemmatizer(treebank).lemmatize([words])[0].lemma == ("mouse", "bird", "balk", "go")
