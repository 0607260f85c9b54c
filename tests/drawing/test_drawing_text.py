"""Text: whoever follows the lines with a finger gets back to the tree."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from wcwidth import wcswidth

from crossarc import Sentence
from crossarc.drawing import to_text
from crossarc.testing import random_tree, random_treebank


def cells(line):
    """A line by the cells of the terminal: a wide letter takes two."""
    return [cell for letter in line for cell in [letter, ""][: wcswidth(letter)]]


def followed_across(text, words):
    """The heads in a drawing with arcs above the words: up from each arrow, across, and down again."""
    grid = [cells(line) for line in text.splitlines()]
    width = max(map(len, grid))
    grid = [[*row, *" " * (width - len(row))] for row in grid]
    feet = next(i for i, row in enumerate(grid) if "▼" in row)
    row = grid[feet + 1]
    starts = [i for i in range(width) if row[i] != " " and (not i or row[i - 1] == " ")]
    assert len(starts) == len(words)

    def word_at(x):
        assert row[x] != " "  # every leg stands on its word, or on the shelf beside it
        return sum(start <= x for start in starts)

    heads = [-1] * (len(words) + 1)
    for x in (i for i in range(width) if grid[feet][i] == "▼"):
        y = feet - 1
        while grid[y][x] == "│":
            y -= 1
        dependent = word_at(x)
        if grid[y][x] not in "╭╮":
            heads[dependent] = 0
            continue
        step, end = (1, "╮") if grid[y][x] == "╭" else (-1, "╭")
        while grid[y][x] != end:
            x += step
        heads[dependent] = word_at(x)
    return heads


def followed_down(text, n):
    """The heads in a drawing with one word on each line: from each arrow along its column."""
    grid = [[*line, *" " * 300] for line in text.splitlines()]
    heads = [-1] * (n + 1)
    for y in range(n):
        for x in (i for i, letter in enumerate(grid[y]) if letter == "▶"):
            column, line = x - 1, y
            if grid[y][column] == "╶":
                heads[y + 1] = 0
                continue
            step = 1 if grid[y][column] in "╭┬" else -1
            line += step
            while grid[line][column] == "│":
                line += step
            assert grid[line][column] in ("╰┴" if step == 1 else "╭┬")
            heads[y + 1] = line + 1
    return heads


def sentences():
    rng = np.random.default_rng(3)
    forms = ["a", "bcd", "漢字", "e\u0301e", "pneumonia", "Wörter", "ok", "コーヒー"]
    for n in [1, 2, 3, *[8] * 60]:
        words = list(rng.choice(forms, n))
        labels = ["x" * int(rng.integers(1, 9)) for _ in range(n + 1)]
        yield Sentence.of(words).with_tree(random_tree(n, rng=rng), labels)
    yield from random_treebank(30, seed=2, nonprojectivity=0.7)


def test_lines_above_words_lead_from_each_word_to_its_head():
    for sentence in sentences():
        text = to_text(sentence.with_columns(upos=["_"] * len(sentence)), width=10_000)
        assert followed_across(text, sentence.form) == sentence.heads.tolist(), text


def test_lines_beside_words_lead_from_each_word_to_its_head():
    for sentence in sentences():
        text = to_text(sentence, width=1)
        assert followed_down(text, len(sentence)) == sentence.heads.tolist(), text
        columns = {len(cells(line.split("x")[0])) for line in text.splitlines() if "x" in line}
        if "_" in sentence.upos:  # the labels, which are all x, stand below each other
            assert len(columns) <= 1


def test_the_layout_that_fits(handmade_sentence):
    across = to_text(handmade_sentence, width=1000)
    size = max(map(len, across.splitlines()))
    assert to_text(handmade_sentence, width=size + 1) == across
    downwards = to_text(handmade_sentence, width=size - 1)
    assert downwards.count("\n") == len(handmade_sentence)
    for part in (*handmade_sentence.form, *handmade_sentence.upos, *handmade_sentence.deprel):
        assert part in across
        assert part in downwards


@pytest.mark.parametrize("width", [1, 1000])
def test_two_trees_differ_without_colours(handmade_sentence, width):
    heads, labels = handmade_sentence.heads, ["_", *handmade_sentence.deprel]
    heads[7], labels[8] = 4, "advmod"
    text = to_text(handmade_sentence, compare=handmade_sentence.with_tree(heads, labels), width=width)
    for part in ("− nmod", "+ nmod", "obl:tmod ≠ advmod", "╎", "║", "− only in"):
        assert part in text
    assert "\033" not in text
    assert "\033[31m" in to_text(
        handmade_sentence, compare=handmade_sentence.with_tree(heads), width=width, colour=True
    )


def test_k_best_trees_show_what_is_new(handmade_sentence):
    def ranked(sentence, rank, probability):
        comments = (*sentence.comments, f"# crossarc_rank = {rank}", f"# crossarc_prob = {probability}")
        return replace(sentence, comments=comments)

    heads = handmade_sentence.heads
    heads[7] = 4
    trees = [ranked(handmade_sentence, 1, 0.6), ranked(handmade_sentence.with_tree(heads), 2, 0.3)]
    first, second = to_text(trees, width=1).split("\n\n")
    assert first.startswith("en-01, rank 1, probability 0.6\n")
    assert "+" not in first
    assert second.startswith("en-01, rank 2, probability 0.3\n")
    assert second.count("+") == 2  # the arc and the legend
    assert "+ nmod" in second


def test_improbable_arcs_are_dashed():
    sentence = Sentence.of(["John", "left", "."], misc=["ArcProb=0.49", "ArcProb=1.0", "ArcProb=0.51"])
    text = to_text(sentence.with_tree([-1, 2, 0, 2], ["_", "nsubj", "root", "punct"]))
    assert "nsubj 49% " in text
    assert text.count("╎") > 0
    assert "╌ punct" not in text


@pytest.mark.parametrize("width", [1, 1000])
def test_what_is_no_tree(width):
    sentence = Sentence.of(["a\x1b[2J", "b", "c"])
    assert to_text(sentence, width=width).split() == ["a�[2J", "b", "c"]
    loop = to_text(sentence.with_tree([-1, -1, 2, 2], ["_", "_", "self", "x"]), width=width)
    assert "self" in loop
    assert "x" in loop
    assert to_text([], width=width) == ""
