"""What is known of words, and that it does not grow without bound."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from crossarc.core import Sentence
from crossarc.features.attributes import ATTRIBUTES, PADDING, UPOS, attributes_of
from crossarc.features.hashing import hash_string
from crossarc.features.word_table import Memo, WordTable

WORDS = st.lists(st.lists(st.integers(0, 30), max_size=8), max_size=12)


def describe(word: int) -> tuple[list[int], int]:
    return [word, word * word], -word


@given(WORDS, st.integers(1, 20))
def test_rows_are_what_words_are_like_however_often_the_table_starts_anew(batches, size):
    table = WordTable(describe, [(np.array([99, 99]), np.array(7))], size)
    for words in batches:
        rows, (pairs, negatives) = table.rows([words, words[:2]], before=[0], after=[0, 0])
        expected = [99, *words, 99, 99, 99, *words[:2], 99, 99]
        assert pairs[rows, 0].tolist() == expected
        assert [(-n) ** 2 if n < 0 or not n else 99 for n in negatives[rows]] == pairs[rows, 1].tolist()


def test_a_full_table_starts_anew():
    described = []
    table = WordTable(lambda word: described.append(word) or ([word],), [(np.array([0]),)], 3)
    for word in (1, 2, 1, 3, 1, 4, 1):
        table.rows([[word]])
    assert described == [1, 2, 3, 1, 4]  # 3 is the last that it has room for


def test_arrays_that_were_handed_out_stay_as_they_are():
    table = WordTable(describe, [(np.array([0, 0]), np.array(0))], 2)
    rows, arrays = table.rows([[5, 6]])
    table.rows([[7, 8, 9]])
    assert arrays[0][rows].tolist() == [[5, 25], [6, 36]]


def test_a_memo_forgets_when_it_is_full():
    asked = []
    memo = Memo(lambda key: asked.append(key) or key * 2, 2)
    assert memo.look_up([1, 2, 1]) == [2, 4, 2]
    assert memo.look_up([1]) == [2]
    assert asked == [1, 2, 1]


def test_attributes_of_words_and_of_what_is_outside():
    sentence = Sentence.of(["Old", "men"], upos=["ADJ", "NOUN"], feats=["Case=Nom|Number=Sing", "_"])
    batch = attributes_of([sentence, Sentence.of([])])
    assert batch.starts.tolist() == [0, 3, 4]
    assert batch.counts.tolist() == [1, 4, 2, 1]
    tags = [f"upos={tag}" for tag in ("<root>", "ADJ", "NOUN", "<outside>")]
    assert batch.words[PADDING : PADDING + 4, UPOS].tolist() == [hash_string(tag) for tag in tags]
    assert batch.words[PADDING + 1, ATTRIBUTES.index("lower")] == hash_string("lower=old")
    assert batch.features[1, 2] == hash_string("Case=Nom")
    assert len(batch.words) == 4 + 2 * (2 * PADDING + 1)
