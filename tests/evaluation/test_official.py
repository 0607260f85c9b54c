"""Our scores are those of the official scorer, count by count."""

from __future__ import annotations

import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

import crossarc
from crossarc.evaluation import evaluate
from crossarc.evaluation.evaluate import OFFICIAL
from disturb import disturbed, resegmented

UDEVAL = Path(sysconfig.get_path("scripts")) / "udeval"


def official_counts(gold: Path, system: Path) -> dict[str, list[int | None]]:
    """Correct, gold, system and aligned counts of each metric, by the official scorer as an external program."""
    command = [sys.executable, UDEVAL, "--counts", "--no-enhanced", "--multiple-roots-okay", gold, system]
    output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    rows = [[cell.strip() for cell in line.split("|")] for line in output.splitlines()[2:]]
    return {name: [int(cell) if cell else None for cell in cells] for name, *cells in rows}


def assert_official(gold: Path, system: Path) -> None:
    ours = evaluate(crossarc.read(gold, trees=True), crossarc.read(system, trees=True))
    theirs = official_counts(gold, system)
    assert set(OFFICIAL) <= theirs.keys()
    for name in OFFICIAL:
        score = ours.official[name]
        for mine, official in zip([score.correct, score.gold, score.system, score.aligned], theirs[name], strict=True):
            assert official is None or mine == official, name
    assert ours.all_words.las_universal.correct == ours.official["LAS"].correct
    assert ours.all_words.clas.f1 == ours.official["CLAS"].f1
    for scores in (ours.all_words, ours.without_punctuation, ours.nonprojective_sentences):
        assert scores.las.correct <= scores.las_universal.correct <= scores.uas.correct


@pytest.mark.parametrize("change", [disturbed, resegmented])
def test_handmade_treebank(change, handmade, tmp_path):
    system = tmp_path / "system.conllu"
    crossarc.write(change(crossarc.read(handmade), 1), system)
    assert_official(handmade, system)


@pytest.mark.parametrize("seed", range(8))
def test_resegmented_random_treebank(seed, tmp_path):
    from crossarc.testing import random_treebank

    gold, system = tmp_path / "gold.conllu", tmp_path / "system.conllu"
    crossarc.write(resegmented(random_treebank(60, seed=seed), seed + 100), gold)
    crossarc.write(resegmented(random_treebank(60, seed=seed), seed), system)
    assert_official(gold, system)


@pytest.mark.slow
def test_real_treebanks(treebanks, tmp_path):
    system = tmp_path / "system.conllu"
    for gold in sorted(treebanks.glob("*/dev.conllu")):
        crossarc.write(disturbed(crossarc.read(gold), 7), system)
        assert_official(gold, system)


@pytest.mark.slow
def test_real_treebanks_resegmented(treebanks, tmp_path):
    system = tmp_path / "system.conllu"
    for name in ("Turkish-IMST", "German-mix", "Portuguese-Bosque"):
        gold = treebanks / name / "dev.conllu"
        crossarc.write(resegmented(crossarc.read(gold), 7), system)
        assert_official(gold, system)
