"""Pseudo-projective parsing: crossing arcs go into labels and come back; encoded labels are seen by nobody."""

from __future__ import annotations

from functools import cache

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

import crossarc
import oracles
from changed_models import assert_refused_with
from commands import output_of
from crossarc.cli import crossarc as commands
from crossarc.core import Constraints, CrossarcError, InputError
from crossarc.evaluation import evaluate
from crossarc.parsers import (
    CombinedConfig,
    CovingtonConfig,
    GraphConfig,
    ParseOptions,
    SpanningTreeConfig,
    TrainingListener,
    UnsupportedOption,
    load,
    train,
)
from crossarc.parsers.pseudo_projective.encoding import ENCODINGS, deprojectivised, is_encoded, projectivised
from crossarc.parsers.pseudo_projective.parser import encoded
from crossarc.trees import is_projective, is_tree
from trained import DEV, TEST, TRAIN

SMALL = SpanningTreeConfig(order="1", epochs=3, hash_bits=18)


def distinct(n):
    """A label of its own for each word."""
    return ["_", *(f"l{word}" for word in range(1, n + 1))]


def lifted_one_by_one(heads):
    """Nivre & Nilsson's PROJECTIVIZE, word for word, with the oracle of what is projective; and the words of paths."""
    heads, path = list(heads), set()
    while True:
        crossing = [m for m in range(1, len(heads)) if not oracles.is_projective_arc(heads, m)]
        if not crossing:
            return heads, path
        smallest = min(abs(heads[m] - m) for m in crossing)
        word = next(m for m in crossing if abs(heads[m] - m) == smallest)
        path.add(heads[word])
        heads[word] = heads[heads[word]]


@pytest.mark.parametrize("n", range(6))
def test_arcs_are_lifted_as_in_the_paper(n):
    for heads in oracles.all_trees(n):
        lifted, path = lifted_one_by_one(heads)
        moved = [a != b for a, b in zip(heads, lifted, strict=True)]
        for encoding in ENCODINGS:
            found, labels = projectivised(heads, distinct(n), encoding)
            assert found == lifted
            assert oracles.is_projective(found)
            assert ["↑" in label for label in labels] == moved
            assert {m for m, label in enumerate(labels) if "↓" in label} == (set() if encoding == "head" else path)
            assert [label.strip("↓").split("↑")[0] for label in labels] == distinct(n)


@pytest.mark.parametrize("n", range(6))
@pytest.mark.parametrize("encoding", ENCODINGS)
def test_labels_lead_back_to_the_tree(n, encoding):
    """If the labels of heads tell them apart; those of paths do if one arc alone is lifted."""
    for heads in oracles.all_trees(n):
        encoded = projectivised(heads, distinct(n), encoding)
        if encoding == "path" and sum(a != b for a, b in zip(heads, encoded[0], strict=True)) > 1:
            continue
        assert deprojectivised(*encoded, encoding) == (list(heads), distinct(n))


@given(st.data())
def test_whatever_labels_say_the_result_is_a_tree_without_encoded_labels(data):
    n = data.draw(st.integers(1, 5))
    heads = data.draw(st.sampled_from(oracles.all_trees(n)))
    label = st.sampled_from(["a", "b", "a↑", "b↑a", "a↑b↓", "b↓", "a↑↓"])
    labels = ["_", *data.draw(st.lists(label, min_size=n, max_size=n))]
    for encoding in ENCODINGS:
        found, decoded = deprojectivised(heads, labels, encoding)
        assert is_tree(found)
        assert decoded == ["_", *(own[0] for own in labels[1:])]
        assert all(found[m] == heads[m] for m in range(1, n + 1) if "↑" not in labels[m])


def test_the_nearest_word_with_the_label_is_taken():
    heads = [-1, 4, 4, 2, 0, 4]  # 2 and 5 are children of 4, 3 is a child of 2
    assert deprojectivised(heads, ["_", "obj↑x", "y", "x", "root", "x"], "head")[0][1] == 5
    assert deprojectivised(heads, ["_", "obj↑x", "x", "x", "root", "x"], "head")[0][1] == 2
    assert deprojectivised(heads, ["_", "obj↑x", "y", "x", "root", "y"], "head")[0][1] == 3
    assert deprojectivised(heads, ["_", "obj↑z", "y", "x", "root", "y"], "head")[0][1] == 4


@cache
def parser(encoding="head", config=SMALL):
    return train(TRAIN, config, dev=DEV, pseudo_projective=encoding)


@pytest.mark.slow
@pytest.mark.parametrize("encoding", ENCODINGS)
def test_crossing_arcs_are_found_by_a_projective_parser(encoding, tmp_path):
    own = parser(encoding)
    found = list(own.trees(TEST))
    scores = evaluate(TEST, found)
    assert scores.all_words.uas.f1 > 0.8
    assert scores.all_words.las.f1 > 0.75
    lifted = (own.parse_sentence(sentence, Constraints(projective=True)) for sentence in TRAIN)
    of_known = evaluate(TRAIN, own.trees(TRAIN)).nonprojective_recall.recall  # new ones need more trees than these
    assert of_known > evaluate(TRAIN, lifted).nonprojective_recall.recall + 0.3
    assert own.dev.las > 0.75
    assert not any(is_encoded(label) for sentence in found for label in sentence.deprel)
    assert not any(map(is_encoded, own.labels))
    assert own.labels == tuple(sorted({label for sentence in TRAIN for label in sentence.deprel}))
    assert all(is_projective(tree.heads) for tree in own.parser.trees(TEST))
    own.save(tmp_path / "model")
    assert list(load(tmp_path / "model").trees(TEST)) == found
    assert load(tmp_path / "model").coverage == own.coverage


@pytest.mark.slow
def test_any_projective_system_will_do():
    own = parser("head", CovingtonConfig(epochs=6, hash_bits=20))
    assert evaluate(TEST, own.trees(TEST)).nonprojective_recall.recall > 0.1


@pytest.mark.slow
def test_coverage_is_told():
    said = []

    class Listening(TrainingListener):
        def arcs_lifted(self, *coverage):
            said.append(coverage)

    own = train(
        TRAIN, SpanningTreeConfig(order="1", epochs=1, hash_bits=16), listener=Listening(), pseudo_projective="path"
    )
    trees = [(sentence.heads.tolist(), ["_", *sentence.deprel]) for sentence in TRAIN]
    lifted = [projectivised(*tree, "path") for tree in trees]
    back = [deprojectivised(*tree, "path") for tree in lifted]
    moved = [(i, m) for i, (heads, _) in enumerate(trees) for m in range(1, len(heads)) if lifted[i][0][m] != heads[m]]
    right = sum(back[i][0][m] == trees[i][0][m] for i, m in moved)
    assert said == [(sum(map(len, TRAIN)), len(moved), right)] == [tuple(own.coverage)]
    assert 0 < right <= len(moved)


@pytest.mark.slow
def test_shapes_are_honoured_and_options_refused():
    for sentence in TEST[:10]:
        found = parser().parse_sentence(sentence, Constraints(projective=True, single_root=True))
        assert is_projective(found.heads)
        assert found.head.count("0") == 1
        assert not any(map(is_encoded, found.deprel))
    for options in (ParseOptions(k=2), ParseOptions(confidence=True), ParseOptions(max_degree=1)):
        with pytest.raises(UnsupportedOption, match="pseudo-projective"):
            list(parser().parse(TEST[:1], options))


@pytest.mark.slow
def test_arcs_are_explained_as_the_projective_parser_found_them():
    own = parser()
    tree = next(tree for tree in own.trees(TEST) if not is_projective(tree.heads))
    lifted = encoded(tree, "head")
    moved = [m for m in range(1, len(tree) + 1) if tree.heads[m] != lifted.heads[m]]
    assert moved
    for m in range(1, len(tree) + 1):
        assert own.explain(tree, int(tree.heads[m]), m) == own.parser.explain(lifted, int(lifted.heads[m]), m)
    other = next(h for h in range(len(tree) + 1) if h not in (moved[0], tree.heads[moved[0]], lifted.heads[moved[0]]))
    assert own.explain(tree, other, moved[0]) == own.parser.explain(lifted, other, moved[0])


def test_what_cannot_be_trained():
    with pytest.raises(CrossarcError, match="can be told to make projective trees"):
        train(TRAIN, CombinedConfig(), dev=DEV, pseudo_projective="head")
    with pytest.raises(UnsupportedOption, match="several heads"):
        train(TRAIN, GraphConfig(), pseudo_projective="head")
    with pytest.raises(CrossarcError, match="needs labels"):
        train(TRAIN, SpanningTreeConfig(labels="none"), pseudo_projective="head")
    with pytest.raises(CrossarcError, match="does not go with projective links"):
        train(TRAIN, CovingtonConfig(max_degree=1), pseudo_projective="head")
    marked = TRAIN[0].with_columns(deprel=["obj↑nsubj"] * len(TRAIN[0]))
    with pytest.raises(InputError, match="looks like one of pseudo-projective parsing"):
        train([marked], SMALL, pseudo_projective="head")
    with pytest.raises(InputError, match="has no HEAD"):
        train([TRAIN[0].with_columns(head=["_"] * len(TRAIN[0]))], SMALL, pseudo_projective="head")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"labels": ["a"]}, "not those of its projective parser"),
        ({"config": {"encoding": "tail"}}, "none of head, path"),
        ({"coverage": {"arcs": 1}}, "coverage has no lifted"),
        ({"parser": {"system": "nonsense"}}, "unknown: nonsense"),
        ({"parser": {"system": "spanning-tree"}}, "parser has no config"),
    ],
)
def test_models_that_make_no_sense_are_refused(change, problem, tmp_path):
    assert_refused_with(change, parser(), problem, tmp_path)


def test_on_the_command_line(tmp_path):
    crossarc.write(TRAIN, tmp_path / "train.conllu")
    crossarc.write(TEST, tmp_path / "test.conllu")
    model, out = tmp_path / "my.crossarc", tmp_path / "out.conllu"
    options = ["--order", "1", "--epochs", "1", "--hash-bits", "16", "--pseudo-projective", "head+path"]
    said = output_of("train", tmp_path / "train.conllu", "-m", model, *options)
    assert "are lifted; their labels lead back to" in said
    output_of("parse", tmp_path / "test.conllu", "-m", model, "-o", out)
    assert "↑" not in out.read_text(encoding="utf-8")
    assert "↓" not in out.read_text(encoding="utf-8")
    shown = output_of("inspect", model)
    assert "head+path" in shown
    assert "spanning-tree" in shown
    assert "of which labels lead back to" in shown
    assert "-k " not in output_of("parse", "-m", model, "--help")
    result = CliRunner().invoke(commands, ["train", "x", "-m", "y", "--pseudo-projective", "head", "--nonprojective"])
    assert result.exit_code == 2


def test_sentences_with_crossing_arcs_can_be_left_out(tmp_path):
    crossarc.write(TRAIN, tmp_path / "train.conllu")
    crossing = sum(not is_projective(sentence.heads) for sentence in TRAIN)
    options = ["--order", "1", "--epochs", "1", "--hash-bits", "16", "--leave-out", "non-projective"]
    said = output_of("train", tmp_path / "train.conllu", "-m", tmp_path / "my.crossarc", *options)
    assert f"{crossing} sentences are not learnt from: their trees are not projective" in said
    assert f"train.conllu: {len(TRAIN) - crossing} sentences" in output_of("inspect", tmp_path / "my.crossarc")
    assert load(tmp_path / "my.crossarc").config.projective
