"""The integer-program parser, and programs as a decoder of another parser."""

from __future__ import annotations

from dataclasses import replace

import pytest

from crossarc.core import Constraints, CrossarcError, InputError, NoTreeError, Sentence, UnsupportedConstraint
from crossarc.evaluation import evaluate
from crossarc.ilp import Arc, Children, FewArcs, NoChildren, NoCrossing, RulesError, SameHead
from crossarc.ilp.rule_file import read_rules
from crossarc.parsers import IlpConfig, IlpParser, ParseOptions, train
from crossarc.parsers.linear.integer_program import solve_sentence
from crossarc.testing import random_treebank
from crossarc.trees import is_projective, is_tree
from trained import Interrupting

TREEBANK = list(random_treebank(90, seed=11, nonprojectivity=0.3))
TRAIN, DEV, TEST = TREEBANK[:60], TREEBANK[60:65], TREEBANK[65:]
CONFIG = IlpConfig(epochs=2, hash_bits=18)


pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def parser() -> IlpParser:
    return train(TRAIN, CONFIG, dev=DEV)


def solve(parser, sentence, **options):
    return solve_sentence(parser.linear, sentence, kinds=parser.config.kinds, **options)


def test_it_learns(parser):
    scores = evaluate(TEST, parser.trees(TEST)).all_words
    assert scores.uas.f1 > 0.6
    assert scores.las.f1 > 0.5
    assert parser.dev is not None


def test_exact_trees_are_the_best_and_say_so(parser):
    for sentence in TEST[:10]:
        exact, relaxed = solve(parser, sentence), solve(parser, sentence, exact=False)
        (parsed,) = parser.parse([sentence], ParseOptions(exact=True, time_limit=600))
        assert exact.solution.status == "optimal"
        assert parsed.status in ("optimal", f"optimal (over {exact.n_candidates} of {len(sentence) ** 2} arcs)")
        assert parsed.sentence == exact.sentence
        assert relaxed.solution.status in ("integral", "rounded")
        assert relaxed.solution.tree.score <= exact.solution.tree.score + 1e-6
        assert exact.solution.tree.score <= relaxed.solution.bound + 1e-6
        assert is_tree(exact.sentence.heads)
    (hurried,) = parser.parse([TEST[0]], ParseOptions(exact=True, time_limit=1e-9))
    assert hurried.status.startswith("time limit (gap ")


def test_the_scores_are_those_of_the_search(parser):
    """The program finds what the climbing search finds, or something better by the same scores."""
    same = 0
    for sentence in TEST[:10]:
        (found,) = parser.linear.best([sentence])
        best = solve_sentence(parser.linear, sentence)
        heads = Constraints(required_arcs=frozenset((int(h), m) for m, h in enumerate(found.heads) if m))
        as_found = solve_sentence(parser.linear, sentence, heads)
        assert best.solution.tree.score >= as_found.solution.tree.score - 1e-3
        same += best.sentence == found
    assert same >= 5


def test_training_does_not_go_on_with_other_parts(tmp_path):
    few, config = TRAIN[:12], replace(CONFIG, parts="arc,grandparent,nonprojective")
    options = {"checkpoint": tmp_path / "training", "dev": DEV}
    train(few, config, listener=Interrupting("heads", 1), **options)
    with pytest.raises(CrossarcError, match="parts"):
        train(few, replace(config, parts="arc"), resume=True, **options)


def test_constraints_are_honoured_or_refused(parser):
    for sentence in TEST[:5]:
        word, head = len(sentence), 1
        constraints = Constraints(required_arcs=frozenset([(head, word)]), max_children={0: 1, head: 1})
        heads = parser.parse_sentence(sentence, constraints).heads
        assert heads[word] == head
        assert (heads == head).sum() == 1
        assert is_projective(parser.parse_sentence(sentence, Constraints(projective=True)).heads)
    with pytest.raises(NoTreeError):
        parser.parse_sentence(TEST[0], Constraints(required_arcs=frozenset([(1, 2), (2, 1)])))
    with pytest.raises(UnsupportedConstraint):
        parser.parse_sentence(TEST[0], Constraints(max_degree=1))


def test_rules_hold(parser):
    leaf = parser.labels[0]
    rules = [FewArcs(0), NoChildren(frozenset([0])), SameHead((1, 2))]
    for sentence in TEST[1:4]:
        solved = solve(parser, sentence, rules=rules)
        heads, labels = solved.sentence.heads, ("", *solved.sentence.deprel)
        assert is_projective(heads)
        assert heads[1] == heads[2]
        assert not any(labels[head] == leaf for head in heads[1:] if head > 0)


def test_arcs_that_rules_name_are_candidates(parser):
    """A soft rule with enough weight gets its arc, though the pruner would leave it out."""
    strict = replace(
        parser.linear,
        scorer=replace(
            parser.linear.scorer, options=parser.linear.scorer.options._replace(max_candidates=1, pruning_margin=1e-3)
        ),
    )
    for sentence in TEST[:3]:
        free = solve_sentence(strict, sentence)
        others = [h for h in range(1, len(sentence) + 1) if h not in (1, free.sentence.heads[1])]
        rule = Arc(others[-1], 1, weight=100.0)
        solved = solve_sentence(strict, sentence, rules=[rule])
        assert solved.n_candidates > free.n_candidates
        assert solved.sentence.heads[1] == rule.head
        assert not solved.solution.broken


def test_sentences_that_meet_the_time_limit_are_named(parser, monkeypatch):
    monkeypatch.setattr("crossarc.parsers.integer_program.TIME_LIMIT", 1e-9)
    (parsed,) = parser.parse([TEST[0]])
    assert parsed.status.startswith("time limit (gap ")
    assert [note for note in parsed.notes if "time limit of 1e-09 s" in note]


def test_parts_without_templates_are_refused():
    with pytest.raises(
        CrossarcError, match=r"mcd2005 has no templates for .*valency.*: take --parts arc,nonprojective$"
    ):
        train(TRAIN[:2], replace(CONFIG, features="mcd2005"))


def test_no_parts_without_arcs():
    with pytest.raises(CrossarcError, match="no such parts: cousin"):
        IlpConfig(parts="arc,cousin")
    with pytest.raises(CrossarcError, match="arc"):
        IlpConfig(parts="sibling")


# --- files of rules ---

LABELS = ("conj", "det", "nsubj", "nsubj:pass", "obj", "punct")
SENTENCE = replace(
    Sentence.of(
        list("abcd"), upos=["DET", "NOUN", "VERB", "NOUN"], feats=["_", "Case=Nom", "_", "Case=Acc|Number=Sing"]
    ),
    comments=("# sent_id = s1",),
)


def understood(tmp_path, text):
    path = tmp_path / "rules"
    path.write_text(text, encoding="utf-8")
    return read_rules(str(path)).rules_for(SENTENCE, LABELS)


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("at most 1 nsubj,obj per head", Children(most=1, labels=frozenset([2, 4]))),
        ("at most 1 nsubj* per VERB", Children(most=1, labels=frozenset([2, 3]), heads=frozenset([3]))),
        ("at least 2 children per NOUN", Children(least=2, heads=frozenset([2, 4]))),
        ("soft: det has no children  # why", NoChildren(frozenset([1]), weight=1.0)),
        ("soft 2.5: punct crosses nothing", NoCrossing(frozenset([5]), weight=2.5)),
        ("at most 0 non-projective arcs", FewArcs(0)),
        ("at most 1 crossing arc", FewArcs(1, crossing=True)),
        ("s1: words 1 and 3 share a head", SameHead((1, 3))),
        ("s1: arc 0 -> 2 obj", Arc(0, 2, frozenset([4]))),
        ("soft: s1: no arc 1 -> 2", Arc(1, 2, wanted=False, weight=1.0)),
        ("s1: at most 2 children of 4", Children(most=2, heads=frozenset([4]))),
    ],
)
def test_lines_are_understood(tmp_path, line, expected):
    (rule,) = understood(tmp_path, f"# a comment\n\n{line}\n")
    assert rule.name == f"{tmp_path / 'rules'}:3: {' '.join(line.partition('#')[0].split())}"
    assert replace(rule, name="") == expected


def test_agreement(tmp_path):
    tags, cases = understood(tmp_path, "conj agrees in upos\nconj agrees in Case")
    assert tags.forbidden[1, 2]
    assert not tags.forbidden[2, 4]
    assert not tags.forbidden[0, 2]
    assert cases.forbidden[2, 4]
    assert not cases.forbidden[1, 2]


def test_rules_of_another_sentence_do_not_count(tmp_path):
    assert understood(tmp_path, "s2: arc 0 -> 2") == []


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("at most one nsubj per head", "not a rule"),
        ("at most 1 subject per head", "no label 'subject'"),
        ("s1: arc 0 -> 9", "no word 9"),
        ("s1: arc 2 -> 2", "its own head"),
        ("words 1 and 2 share a head", "not a rule"),
    ],
)
def test_what_cannot_be_understood_names_its_place(tmp_path, line, problem):
    with pytest.raises(InputError, match=problem) as error:
        understood(tmp_path, f"\n{line}")
    assert str(error.value).startswith(f"{tmp_path / 'rules'}:2: ")


def test_contradictions_name_their_lines(parser, tmp_path):
    path = tmp_path / "rules"
    path.write_text("at most 4 children per head\nx: arc 1 -> 2\nx: arc 2 -> 1\n")
    sentence = replace(TEST[0], comments=("# sent_id = x",))
    with pytest.raises(RulesError) as error:
        solve(parser, sentence, rules=read_rules(str(path)).rules_for(sentence, parser.labels))
    assert str(error.value) == f"no tree satisfies {path}:2: x: arc 1 -> 2; {path}:3: x: arc 2 -> 1"
