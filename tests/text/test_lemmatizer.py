"""The lemmatizer: what it promises of any treebank."""

from __future__ import annotations

from components import TEST, TRAIN, lemmatizer
from hypothesis import given
from hypothesis import strategies as st

from crossarc.core import Sentence
from crossarc.text import Lemmatizer
from crossarc.text.lemmatizer import apply_script, script_of


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
    assert Lemmatizer.train(treebank).apply([words])[0].lemma == ("mouse", "bird", "balk", "go")


def test_a_lemmatizer_survives_a_model():
    header, tensors = lemmatizer().to_model()
    assert Lemmatizer.from_model(header, tensors).apply(TEST) == lemmatizer().apply(TEST)


def test_the_treebank_gets_its_lemmas_back():
    words = [
        pair
        for s, own in zip(TRAIN, lemmatizer().apply(TRAIN), strict=True)
        for pair in zip(s.lemma, own.lemma, strict=True)
    ]
    assert sum(gold == lemma for gold, lemma in words) > 0.98 * len(words)
