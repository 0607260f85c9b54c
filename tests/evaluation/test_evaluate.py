"""Scores counted by hand."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import crossarc
from crossarc.core import InputError, Sentence
from crossarc.evaluation import evaluate
from crossarc.testing import random_treebank
from disturb import disturbed

# hearing(2) is the head of issue(7), across scheduled(4) -> today(8): arc 7 is non-projective
WORDS = ["A", "hearing", "is", "scheduled", "on", "the", "issue", "today", "."]
UPOS = ["DET", "NOUN", "AUX", "VERB", "ADP", "DET", "NOUN", "NOUN", "PUNCT"]
HEADS = [-1, 2, 4, 4, 0, 7, 7, 2, 4, 4]
LABELS = ["_", "det", "nsubj:pass", "aux:pass", "root", "case", "det", "nmod", "obl", "punct"]
GOLD = Sentence.of(WORDS, upos=UPOS).with_tree(HEADS, LABELS)


def test_a_perfect_parse():
    result = evaluate([GOLD], [GOLD])
    assert all(score.f1 == 1 for score in result.official.values())
    assert result.all_words.complete.correct == 1
    assert result.nonprojective_f1 == 1


def test_a_projective_parse():
    """The parser attaches `issue` to the verb and forgets the subtype of the subject."""
    system = GOLD.with_tree([-1, 2, 4, 4, 0, 7, 7, 4, 4, 4], [*LABELS[:2], "nsubj", *LABELS[3:]])
    result = evaluate([GOLD], [system])
    everything, words = result.all_words, result.without_punctuation
    assert (everything.uas.correct, everything.uas.gold) == (8, 9)
    assert (everything.las.correct, everything.las_universal.correct) == (7, 8)
    assert (words.uas.correct, words.uas.gold) == (7, 8)
    assert everything.complete.correct == 0
    assert (result.nonprojective_recall.gold, result.nonprojective_recall.correct) == (1, 0)
    assert result.nonprojective_precision.system == 0
    assert result.nonprojective_sentences.uas == everything.uas
    assert result.by_label["nmod"].gold == 1
    assert result.by_label["nmod"].correct == 0
    assert result.confusion["nsubj:pass", "nsubj"] == 1
    assert result.by_arc_length["3-6"].gold == 3  # issue, today; and the full stop, which is 5 from its head
    assert result.by_sentence_length["1-10"].uas == everything.uas
    assert bytes(result.outcomes.head) == bytes([1, 1, 1, 1, 1, 1, 0, 1, 1])


def test_complete_without_punctuation():
    system = GOLD.with_tree([*HEADS[:-1], 2])
    result = evaluate([GOLD], [system])
    assert result.all_words.complete.correct == 0
    assert result.without_punctuation.complete.correct == 1


@pytest.mark.parametrize(
    ("form", "upos", "is_punctuation"),
    [
        (".", "PUNCT", True),
        ("word", "PUNCT", True),
        ("-", "SYM", False),
        (".", "X", True),
        ("»", "_", True),
        ("...", "XP", True),
        ("$", "X", False),
        ("a.", "X", False),
    ],
)
def test_what_counts_as_punctuation(form, upos, is_punctuation):
    sentence = Sentence.of(["w", form], upos=["NOUN", upos]).with_tree([-1, 0, 1])
    assert evaluate([sentence], [sentence]).without_punctuation.uas.gold == 2 - is_punctuation


def test_graphs():
    gold = Sentence.of(["a", "b", "c"], deps=["0:root", "1:x", "1:y|2:z:of"]).with_tree([-1, 0, 1, 1])
    system = gold.with_columns(deps=["0:root", "1:x|3:x", "1:y|2:w"])
    graph = evaluate([gold], [system]).graph
    assert (graph.labelled.gold, graph.labelled.system, graph.labelled.correct) == (4, 5, 3)
    assert (graph.unlabelled.gold, graph.unlabelled.system, graph.unlabelled.correct) == (4, 5, 4)
    assert (graph.extra_labelled.gold, graph.extra_labelled.system, graph.extra_labelled.correct) == (1, 2, 0)
    assert graph.extra_unlabelled.correct == 1


def test_graphs_with_empty_nodes(handmade):
    sentences = list(crossarc.read(handmade))
    graph = evaluate(sentences, sentences).graph
    assert graph.labelled.correct == graph.labelled.gold == graph.labelled.system
    in_words = sum(deps.count("|") + 1 for s in sentences for deps in s.deps)
    in_empty_nodes = sum(i.row.deps.count("|") + 1 for s in sentences for i in s.inserts if i.is_empty_node)
    assert graph.labelled.gold == in_words + in_empty_nodes


@given(st.integers(0, 10**6), st.floats(0, 1))
def test_scores_are_consistent(seed, rate):
    gold = list(random_treebank(3, seed=seed, nonprojectivity=0.5))
    result = evaluate(gold, disturbed(gold, seed, rate))
    for scores in (result.all_words, result.without_punctuation, *result.by_sentence_length.values()):
        assert scores.las.correct <= scores.las_universal.correct <= scores.uas.correct <= scores.uas.gold
        assert scores.complete_labelled.correct <= scores.complete.correct <= scores.complete.gold
    assert sum(score.gold for score in result.by_label.values()) == result.all_words.uas.gold
    assert sum(score.correct for score in result.by_label.values()) == result.all_words.las.correct
    assert sum(score.correct for score in result.by_arc_length.values()) == result.all_words.uas.correct
    assert sum(s.uas.correct for s in result.by_sentence_length.values()) == result.all_words.uas.correct
    assert sum(result.outcomes.head) == result.all_words.uas.correct
    assert result.confusion.total() == result.all_words.uas.gold


def test_other_text_is_an_error():
    other = Sentence.of(["A", "meeting"]).with_tree([-1, 2, 0])
    with pytest.raises(InputError, match=r"the text differs .* 'meeting' here, 'hearingisscheduledon' there"):
        evaluate([GOLD], [other])


@pytest.mark.parametrize(("gold", "system"), [([GOLD, GOLD], [GOLD]), ([GOLD], [GOLD, GOLD])])
def test_a_shorter_file_is_an_error(gold, system):
    with pytest.raises(InputError, match="ends before this sentence does"):
        evaluate(gold, system)
