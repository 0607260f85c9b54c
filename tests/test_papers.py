"""benchmarks/papers.py: every paper has work to do, and its page can be written from what there is so far."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

import crossarc
from crossarc.parsers import CovingtonConfig, ParseOptions, SpanningTreeConfig
from trained import DEV, TEST, TRAIN

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"
sys.path.append(str(BENCHMARKS))

import paper_n07  # noqa: E402
import paper_pages  # noqa: E402
import paper_runs  # noqa: E402
import papers  # noqa: E402

SAMPLE = paper_runs.Sample(Path("nowhere"), seeds=2)
STAMP = {"date": "2026-01-02", "commit": "abc"}


def made_up(work):
    """Figures of the form that a piece of work has; all different."""
    function, *arguments = work
    rng = np.random.default_rng(sum(map(ord, repr(arguments))))
    if function is paper_runs.figures:
        run = arguments[0]
        names = ["uas", "las", "uas_words", "las_words", "complete", "uas_b", "complete_b", "seconds"]
        parses = {
            name: {
                **dict.fromkeys(names, float(rng.uniform(50, 90))),
                "right": paper_runs.packed([rng.random(100) < 0.8]),
                "graph": [80.0, 81.0, 82.0],
                "statuses": {"integral": 5},
            }
            for name, _ in run.parses
        }
        return {"parses": parses, "training_seconds": 3.0, "test_sentences": 9, "pruner": [7.0, 99.0], **STAMP}
    if function is paper_n07.statistics:
        trees = crossarc.evaluation.treebank_statistics(TEST)
        return {"statistics": trees.as_dict(), **STAMP}
    return {"seconds": {"50": 0.1}, "order": 2.1, "solved": 3, "instances": 3, **STAMP}


@pytest.mark.parametrize("name", papers.PAPERS)
def test_pages_are_written_from_all_figures_and_from_some(name):
    paper = papers.PAPERS[name]
    work = paper.work(SAMPLE)
    figures = {own: made_up(call) for own, call in work.items()}
    page = paper_pages.page(name, paper, paper_pages.Done(figures), "")
    assert "not measured" not in page
    rows = page.partition("| claim |")[2]
    assert rows.count(" | yes") + rows.count(" | no") == len(paper.claims(paper_pages.Done(figures)))
    assert "–" not in page.replace(" – ", "") or name == "msx09"  # which has no figures of stacked parsers for English
    first = dict(list(figures.items())[:1])
    page = paper_pages.page(name, paper, paper_pages.Done(first), "")
    assert "not measured" in page


def test_means_are_of_all_seeds_and_tests_of_the_first():
    run = {"uas": 80.0, "right": paper_runs.packed([np.array([True, False, True])])}
    other = {"uas": 90.0, "right": run["right"]}
    done = paper_pages.Done({"T, a": {"parses": {"": run}}, "T, a, seed 2": {"parses": {"": other}}, "T, ab": {}})
    assert done.value("T", "a", "uas") == 85.0
    assert done.one("T", "a") == run
    assert done.p("T", ("a", ""), ("a", "")) == 1.0
    assert done.value("T", "b", "uas") is None


def test_scores_are_those_of_evaluation():
    found = [tree.with_columns(head=["0" if i == 2 else h for i, h in enumerate(tree.head)]) for tree in TEST]
    own = paper_runs.scores(TEST, found)
    theirs = crossarc.evaluation.evaluate(TEST, found)
    assert own["uas"] == round(100 * theirs.all_words.uas.f1, 2)
    assert own["las"] == round(100 * theirs.all_words.las.f1, 2)
    words = [paper_runs.is_punctuation(form) for tree in TEST for form in tree.form]
    assert any(words)
    assert own["uas_words"] == round(100 * theirs.without_punctuation.uas.f1, 2)
    right = paper_runs.unpacked(own["right"])
    assert right.mean() == pytest.approx(theirs.all_words.uas.f1)
    complete = [tree.head == other.head for tree, other in zip(TEST, found, strict=True)]
    assert own["complete"] == round(100 * np.mean(complete), 2)
    crossing = [i for i, tree in enumerate(TEST) if not crossarc.trees.is_projective(tree.heads)]
    assert own["sentences_b"] == len(crossing)
    assert own["complete_b"] == round(100 * np.mean([complete[i] for i in crossing]), 2)


@pytest.mark.parametrize(
    ("config", "wrapped"),
    [
        (SpanningTreeConfig(order="1", hash_bits=16), (("pseudo_projective", "head"),)),
        pytest.param(CovingtonConfig(hash_bits=16), (("stack", "generative"),), marks=pytest.mark.slow),
    ],
)
def test_a_run_gives_what_pages_need(config, wrapped, tmp_path):
    (tmp_path / "T").mkdir()
    for part, trees in (("train", TRAIN), ("dev", DEV), ("test", TEST)):
        crossarc.write(trees, tmp_path / "T" / f"{part}.conllu")
    run = paper_runs.Run("T", "a", config, (("", ParseOptions()),), wrapped, graphs=True)
    sample = paper_runs.Sample(tmp_path, 30, epochs=1)
    found = paper_runs.figures(run, sample, 1)
    wanted = made_up((paper_runs.figures, run))
    assert set(wanted) <= set(found)
    assert set(wanted["parses"][""]) <= set(found["parses"][""])
    assert found["train_sentences"] == found["test_sentences"] == 30
