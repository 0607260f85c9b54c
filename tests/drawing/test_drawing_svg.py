"""SVG: what can be measured in it."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import combinations
from xml.etree import ElementTree

import numpy as np
import pytest

from crossarc import InputError, Sentence
from crossarc.drawing import to_svg
from crossarc.drawing.svg import text_width
from crossarc.testing import random_tree

NS = "{http://www.w3.org/2000/svg}"
SIZES = {"form": 18, "tag": 11, "label": 13, "heading": 13, "legend": 13}


def random_sentence(rng, n):
    letters = np.array(list("ilmwáж漢 "))
    words = ["".join(rng.choice(letters, rng.integers(1, 15))).strip() or "x" for _ in range(n)]
    labels = ["".join(rng.choice(letters, rng.integers(1, 30))).strip() or "x" for _ in range(n + 1)]
    sentence = replace(Sentence.of(words, upos=["NOUN"] * n), comments=("# sent_id = mmmmmmmmmmmm",))
    return sentence.with_tree(random_tree(n, rng=rng, single_root=False), labels)


def boxes(svg):
    """Left, top, right, bottom of every text, with what it says."""
    for element in ElementTree.fromstring(svg).iter(f"{NS}text"):
        kind, text = element.get("class"), element.text
        x, y, width = float(element.get("x")), float(element.get("y")), text_width(text, SIZES[kind])
        left = x if kind in ("heading", "legend") else x - width / 2
        yield left, y - 0.8 * SIZES[kind], left + width, y + 0.25 * SIZES[kind], text


def strokes(svg):
    """The straight parts of all lines, as boxes."""
    for element in ElementTree.fromstring(svg).iter(f"{NS}path"):
        if element.get("class") != "line":
            continue
        x = y = 0.0
        for letter, numbers in re.findall(r"([MVHQ])([^MVHQ]*)", element.get("d")):
            values = [float(number) for number in numbers.split()]
            old = x, y
            x = values[0] if letter == "H" else x if letter == "V" else values[-2]
            y = values[0] if letter == "V" else y if letter == "H" else values[-1]
            if letter in "VH":
                yield min(old[0], x), min(old[1], y), max(old[0], x), max(old[1], y)


def overlap(a, b):
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]


@pytest.mark.parametrize("seed", range(10))
def test_no_text_touches_another_text_or_a_line(seed):
    rng = np.random.default_rng(seed)
    for _ in range(30):
        sentences = [random_sentence(rng, int(rng.integers(1, 14))) for _ in range(rng.integers(1, 3))]
        others = [sentence.with_tree(random_tree(len(sentence), rng=rng)) for sentence in sentences]
        svg = to_svg(sentences, compare=others if rng.random() < 0.3 else None)
        texts = list(boxes(svg))
        assert len(texts) >= 3 * sum(map(len, sentences))
        for a, b in combinations(texts, 2):
            assert not overlap(a, b), (a, b)
        for line in strokes(svg):
            assert not any(overlap(line, text) for text in texts)
        root = ElementTree.fromstring(svg)
        for left, top, right, bottom, _ in texts:
            assert left >= 0
            assert top >= 0
            assert right <= float(root.get("width"))
            assert bottom <= float(root.get("height"))


def test_lines_cross_nowhere_without_a_gap():
    rng = np.random.default_rng(5)
    crossings = 0
    for _ in range(50):
        svg = to_svg(random_sentence(rng, 8))
        lines = list(strokes(svg))
        crossings += len(re.findall("H[0-9]+M", svg))
        for a, b in combinations(lines, 2):
            upright, level = (a, b) if a[0] == a[2] else (b, a)
            if upright[0] == upright[2] and level[1] == level[3]:
                assert not (level[0] < upright[0] < level[2] and upright[1] < level[1] < upright[3])
    assert crossings > 50


def test_attributes_say_what_an_arc_is(handmade_sentence):
    root = ElementTree.fromstring(to_svg(handmade_sentence))
    arcs = {(g.get("data-head"), g.get("data-dep"), g.get("data-label")): g for g in root.iter(f"{NS}g")}
    assert ("2", "7", "nmod") in arcs
    assert "crossing" in arcs["2", "7", "nmod"].get("class").split()
    assert arcs["0", "4", "root"].get("class") == "arc"
    assert root.find(f"{NS}title").text == "A hearing is scheduled on the issue today."
    assert "hearing → issue: nmod" in root.find(f"{NS}desc").text
    assert "prefers-color-scheme: dark" in root.find(f"{NS}style").text
    assert [g.get("data-id") for g in root.iter(f"{NS}g") if g.get("class") == "word"] == list("123456789")


def test_two_trees(handmade_sentence):
    heads = handmade_sentence.heads
    heads[7] = 4
    labels = ["_", *handmade_sentence.deprel]
    labels[8] = "advmod"
    root = ElementTree.fromstring(to_svg(handmade_sentence, compare=handmade_sentence.with_tree(heads, labels)))
    captions = {g.get("class"): g.find(f"{NS}text").text for g in root.iter(f"{NS}g") if "data-dep" in g.attrib}
    assert captions["arc missing"] == "− nmod"
    assert captions["arc extra"] == "+ nmod"
    assert captions["arc relabelled"] == "obl:tmod ≠ advmod"
    assert sum("data-dep" in g.attrib for g in root.iter(f"{NS}g")) == 10
    same = to_svg(handmade_sentence, compare=handmade_sentence)
    assert "are the same here" in same
    with pytest.raises(InputError, match="the words are not those of"):
        to_svg(handmade_sentence, compare=Sentence.of(["other"]))
    with pytest.raises(InputError, match="no sentence to compare"):
        to_svg([handmade_sentence] * 2, compare=handmade_sentence)
    with pytest.raises(InputError, match="no sentence to compare"):
        to_svg(handmade_sentence, compare=[handmade_sentence] * 2)


def test_probabilities_are_opacity_and_number():
    sentence = Sentence.of(["John", "left"], misc=["ArcProb=0.2000|RelProb=0.1999", "ArcProb=1.0000"])
    root = ElementTree.fromstring(to_svg(sentence.with_tree([-1, 2, 0], ["_", "nsubj", "root"])))
    arcs = {g.get("data-dep"): g for g in root.iter(f"{NS}g") if "data-dep" in g.attrib}
    opacities = {dep: float(g.find(f"{NS}path").get("opacity")) for dep, g in arcs.items()}
    assert opacities["1"] < 0.35 < opacities["2"] == 1
    assert arcs["1"].find(f"{NS}text").text == "nsubj 19%"  # of arc and label, rounded down
    assert arcs["2"].find(f"{NS}text").text == "root 100%"
    broken = sentence.with_columns(misc=["ArcProb=high", "_"]).with_tree([-1, 2, 0])
    with pytest.raises(InputError, match="ArcProb of word 1 is 'high'"):
        to_svg(broken)


def test_whatever_heads_there_are_is_drawn():
    forms = ["<a>", "b&c", '"d"', "e\x07"]
    nothing = Sentence.of(forms)
    partial = nothing.with_tree([-1, -1, 1, 2, 4], ["_", "_", "x", "y", "self"])
    cycle = nothing.with_tree([-1, 2, 3, 1, 0])
    for sentence, arcs in ((nothing, 0), (partial, 3), (cycle, 4)):
        root = ElementTree.fromstring(to_svg(sentence))
        assert sum("data-dep" in g.attrib for g in root.iter(f"{NS}g")) == arcs
        assert [e.text for e in root.iter(f"{NS}text") if e.get("class") == "form"] == [*forms[:3], "e�"]
    with pytest.raises(InputError, match="there is no word 9, the HEAD of word 1"):
        to_svg(nothing.with_columns(head=["9", "_", "_", "_"]))
    assert ElementTree.fromstring(to_svg([])) is not None


def test_graphs_have_several_heads_and_empty_nodes(handmade):
    sentences = {sentence.sent_id: sentence for sentence in handmade}
    with_empty = next(s for s in handmade if any(insert.is_empty_node for insert in s.inserts))
    root = ElementTree.fromstring(to_svg(with_empty, graph=True))
    ids = [g.get("data-id") for g in root.iter(f"{NS}g") if g.get("class") == "word"]
    assert len(ids) > len(with_empty)
    assert sorted(ids, key=lambda id_: [int(part) for part in id_.split(".")]) == ids
    svg = to_svg(sentences["en-02"], graph=True)
    assert 'data-head="11" data-dep="2" data-label="obj"' in svg
    assert 'data-head="4" data-dep="2" data-label="nsubj:pass"' in svg
    with pytest.raises(InputError, match="DEPS of node 1: '7:x' is not an arc"):
        to_svg(Sentence.of(["a"], deps=["7:x"]), graph=True)


def test_all_characters_make_valid_xml():
    for first in range(0, 0x110000, 4096):
        if first % 0x10000 in (
            0,
            0xD000,
            0xF000,
        ):  # control characters, surrogates, others
            letters = "".join(map(chr, range(first, first + 4096)))
            sentence = Sentence.of([letters, "b"]).with_tree([-1, 0, 1], ["_", letters, "x"])
            ElementTree.fromstring(to_svg([sentence]))


def test_from_right_to_left():
    """The first word of a Hebrew sentence is at the right, and every arc still joins its own words."""
    words = ["הילד", "קרא", "ספר"]
    sentence = Sentence.of(words).with_tree([-1, 2, 0, 2], ["_", "nsubj", "root", "obj"])
    root = ElementTree.fromstring(to_svg(sentence))
    at = {text.text: float(text.get("x")) for text in root.iter(f"{NS}text")}
    assert at["הילד"] > at["קרא"] > at["ספר"]
    assert at["הילד"] > at["nsubj"] > at["קרא"] > at["obj"] > at["ספר"]
    assert [
        (group.get("data-head"), group.get("data-dep")) for group in root.iter(f"{NS}g") if group.get("data-dep")
    ] == [
        ("2", "1"),
        ("0", "2"),
        ("2", "3"),
    ]
