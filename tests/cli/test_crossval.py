from __future__ import annotations

import json

import pytest

import crossarc
from commands import assert_one_line_error, run
from crossarc.evaluation import evaluate
from crossarc.parsers import SpanningTreeConfig
from crossarc.parsers.folds import folds_of
from crossarc.pipeline.cross_validation import cross_parsed
from crossarc.testing import random_treebank

TREEBANK = list(random_treebank(61, seed=5, nonprojectivity=0.3))
SMALL = SpanningTreeConfig(order="1", epochs=2, hash_bits=16)
OPTIONS = ("--order", 1, "--epochs", 2, "--hash-bits", 16)


@pytest.fixture
def treebank(tmp_path):
    crossarc.write(TREEBANK, tmp_path / "my.conllu")
    return tmp_path / "my.conllu"


def test_folds_are_all_sentences_once():
    for size, folds in ((61, 3), (10, 10), (7, 2)):
        parts = folds_of(size, folds)
        assert [i for part in parts for i in part] == list(range(size))
        assert max(map(len, parts)) - min(map(len, parts)) <= 1


def test_every_fold_is_parsed_by_a_parser_of_the_others():
    found = list(cross_parsed(TREEBANK, SMALL, 3))
    for part, own in zip(folds_of(61, 3), found, strict=True):
        parser = crossarc.train([s for i, s in enumerate(TREEBANK) if i not in part], SMALL)
        expected = list(parser.trees(TREEBANK[i] for i in part))
        assert [s.columns for s in own] == [s.columns for s in expected]


def test_the_command_shows_pooled_scores(treebank, tmp_path):
    output = tmp_path / "found.conllu"
    result = run("crossval", treebank, "--folds", 3, *OPTIONS, "-o", output, "--json")
    assert result.returncode == 0, result.stderr.decode()
    found = json.loads(result.stdout)
    scores = {row["name"]: row for row in found["scores"]}
    evaluation = evaluate(TREEBANK, crossarc.read(output))
    assert scores["LAS"]["f1"] == pytest.approx(100 * evaluation.official["LAS"].f1)
    assert scores["LAS, full labels"]["f1"] == pytest.approx(100 * evaluation.all_words.las.f1)
    for row in scores.values():
        low, high = row["interval"]
        assert low <= row["f1"] <= high
        assert len(row["folds"]) == 3
        assert min(row["folds"]) <= row["f1"] <= max(row["folds"])
    assert "fold 3 of 3: LAS" in result.stderr.decode()
    table = run("crossval", treebank, "--folds", 3, *OPTIONS, "-q").stdout.decode()
    assert f"{scores['UAS']['f1']:.2f}" in table


@pytest.mark.slow
@pytest.mark.parametrize("source", ["words", "text"])
def test_words_and_text_bring_their_own_tags(treebank, source):
    result = run("crossval", treebank, "--folds", 2, "--from", source, *OPTIONS, "--json", "-q")
    assert result.returncode == 0, result.stderr.decode()
    scores = {row["name"]: row["f1"] for row in json.loads(result.stdout)["scores"]}
    assert 40 < scores["UPOS"] < 100
    assert 20 < scores["UAS"] <= scores["UPOS"]
    assert ("Sentences" in scores) == (source == "text")


@pytest.mark.slow
def test_folds_side_by_side_are_the_same():
    assert list(cross_parsed(TREEBANK, SMALL, 2, jobs=2)) == list(cross_parsed(TREEBANK, SMALL, 2))


def test_too_many_folds_are_refused(treebank):
    assert_one_line_error(run("crossval", treebank, "--folds", 99), "99 folds of 61 sentences")
