"""Lines of files of rules that name tags and sides, and what is said about names that nothing has."""

from __future__ import annotations

from dataclasses import replace

import pytest

from crossarc.core import InputError, Sentence
from crossarc.ilp import Children
from crossarc.ilp.rule_file import RuleFile
from crossarc.io.conllu import format_sentence

LABELS = ("conj", "det", "nsubj", "obj", "SUBJ")
SENTENCE = replace(
    Sentence.of(
        list("abcd"),
        upos=["DET", "NOUN", "VERB", "NOUN"],
        xpos=["DT", "NN", "VBZ", "NNS"],
        feats=["_", "Case=Nom", "_", "Case=Acc|Number=Sing"],
        head=["2", "3", "0", "3"],
        deprel=["det", "nsubj", "root", "obj"],
    ),
    comments=("# sent_id = s1",),
)


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (
            "at most 1 DET left of NOUN",
            Children(most=1, heads=frozenset([2, 4]), modifiers=frozenset([1]), side="left"),
        ),
        ("at least 1 conj right of VERB", Children(least=1, labels=frozenset([0]), heads=frozenset([3]), side="right")),
        ("at most 0 children left of head", Children(most=0, side="left")),
        ("at most 2 NOUN,DET per head", Children(most=2, modifiers=frozenset([1, 2, 4]))),
        ("at most 1 obj per NNS", Children(most=1, labels=frozenset([3]), heads=frozenset([4]))),
        ("DET has no children", Children(most=0, heads=frozenset([1]))),
        ("at most 1 SUBJ per VERB", Children(most=1, labels=frozenset([4]), heads=frozenset([3]))),
    ],
)
def test_tags_and_sides(line, expected):
    (rule,) = RuleFile(line, "rules").rules_for(SENTENCE, LABELS)
    assert replace(rule, name="") == expected


def test_labels_and_tags_do_not_mix():
    with pytest.raises(InputError, match="rules:1: the model has no label 'DET'"):
        RuleFile("at most 1 DET,obj left of NOUN", "rules").rules_for(SENTENCE, LABELS)


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("at most 1 obj per NOUM", "no word has the tag 'NOUM'"),
        ("at most 1 DTE left of NOUN", "no word has the tag 'DTE'"),
        ("conj agrees in Cas", "no word has the feature 'Cas'"),
        ("s2: arc 0 -> 2", "no sentence has the sent_id 's2'"),
        ("at most 1 obj per VERB,NNS", None),
        ("conj agrees in upos", None),
        ("conj agrees in Number", None),
        ("s1: no arc 1 -> 2", None),
        ("at most 4 children per head", None),
    ],
)
def test_names_that_nothing_has_are_warned_about(line, problem):
    rules = RuleFile(f"\n{line}\n", "rules")
    rules.look_at(format_sentence(SENTENCE))
    expected = [] if problem is None else [f"rules:2: {problem}: the rule has no effect: {line}"]
    assert rules.without_effect() == expected
