"""The layout of arcs and labels, on trees and on heaps of arcs that are none."""

from __future__ import annotations

from itertools import combinations, pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from crossarc.drawing.layout import Spacing, layers, layout, spans

SPACING = Spacing(word=3, port=2, label=1)


@st.composite
def drawings(draw):
    """Widths of words, arcs of every kind (loops, doubled ones, several roots, cycles), and widths of labels."""
    n = draw(st.integers(1, 9))
    widths = draw(st.lists(st.integers(1, 12), min_size=n, max_size=n))
    arcs = draw(st.lists(st.tuples(st.integers(0, n), st.integers(1, n)), max_size=14))
    labels = draw(st.lists(st.integers(0, 30), min_size=len(arcs), max_size=len(arcs)))
    return [(w // 2, w - w // 2) for w in widths], arcs, labels


def cross(a, b):
    """Whether two arcs must cross, wherever they are drawn above the words; the root's come from high above."""
    if a[0] and b[0]:
        (start, end), (left, right) = sorted([sorted(a), sorted(b)])
        return start < left < end < right
    root, arc = (a, b) if not a[0] else (b, a)
    return bool(arc[0]) and min(arc) < root[1] < max(arc)


@settings(deadline=None)
@given(drawings())
def test_labels_touch_neither_labels_nor_arcs_nor_the_edge(drawing):
    extents, arcs, labels = drawing
    placed = layout(extents, arcs, labels, SPACING)
    for arc, width in zip(placed.arcs, labels, strict=True):
        assert arc.label >= 0
        assert arc.label + width <= placed.width
    for (i, a), (j, b) in combinations(enumerate(placed.arcs), 2):
        if a.layer == b.layer and labels[i] and labels[j]:
            assert a.label + labels[i] < b.label or b.label + labels[j] < a.label
        low, high, width = (a, b, labels[i]) if a.layer < b.layer else (b, a, labels[j])
        for leg in (high.head, high.dependent):
            if low.layer < high.layer:
                assert not low.label - SPACING.label < leg < low.label + width + SPACING.label


@settings(deadline=None)
@given(drawings())
def test_words_and_ports_have_places_of_their_own(drawing):
    extents, arcs, labels = drawing
    placed = layout(extents, arcs, labels, SPACING)
    edges = [(x - left, x + right) for x, (left, right) in zip(placed.words, extents, strict=True)]
    assert all(first[1] + SPACING.word <= second[0] for first, second in pairwise(edges))
    ports = []
    for arc, (head, dependent) in zip(placed.arcs, arcs, strict=True):
        ports += [(arc.dependent, dependent), *([(arc.head, head)] if head else [])]
        if head and head != dependent:
            assert (arc.head < arc.dependent) == (head < dependent)
    ports.sort()
    assert len({x for x, _ in ports}) == len(ports)
    assert [node for _, node in ports] == sorted(node for _, node in ports)


@settings(deadline=None)
@given(drawings())
def test_lines_meet_only_where_arcs_cross_and_have_different_colours_there(drawing):
    extents, arcs, labels = drawing
    placed = layout(extents, arcs, labels, SPACING).arcs
    gaps = {(i, x) for i, arc in enumerate(placed) for x in arc.gaps}
    seen = set()
    for (i, a), (j, b) in combinations(enumerate(placed), 2):
        lines = [sorted((arc.head, arc.dependent)) for arc in (a, b)]
        if a.layer == b.layer:
            assert lines[0][1] < lines[1][0] or lines[1][1] < lines[0][0]
            assert not cross(arcs[i], arcs[j])
            continue
        low, line, high = (i, lines[0], b) if a.layer < b.layer else (j, lines[1], a)
        met = {(low, x) for x in (high.head, high.dependent) if line[0] < x < line[1]} if arcs[low][0] else set()
        assert bool(met) == cross(arcs[i], arcs[j])
        if met:
            assert a.colour != b.colour
        seen |= met
    assert gaps == seen
    if not seen:
        assert {arc.colour for arc in placed} <= {0}


@settings(deadline=None)
@given(drawings(), st.booleans())
def test_layers_are_above_what_they_contain_and_apart_from_what_they_meet(drawing, shared):
    stretches = spans([arc for arc in drawing[1] if arc[0]], shared=shared)
    result = layers(stretches)
    for (a, i), (b, j) in combinations(zip(stretches, result, strict=True), 2):
        if max(a[0], b[0]) < min(a[1], b[1]):
            assert i != j
        if a != b and a[0] <= b[0] and b[1] <= a[1]:
            assert i > j


def test_no_layer_is_empty_and_a_simple_tree_is_flat():
    assert layers(spans([(2, 1), (2, 3), (4, 3)])) == [1, 1, 1]
    assert layers(spans([(2, 1), (2, 3), (4, 3)], shared=True)) == [1, 2, 1]
    assert layers(spans([(4, 1), (2, 3)])) == [2, 1]


def test_the_arc_that_crosses_most_gets_a_colour():
    heads = [2, 4, 4, 0, 7, 7, 2, 4, 4]  # A hearing is scheduled on the issue today.
    arcs = [(head, word) for word, head in enumerate(heads, 1)]
    placed = layout([(5, 5)] * 9, arcs, [4] * 9, SPACING)
    assert [arc for arc, place in zip(arcs, placed.arcs, strict=True) if place.colour] == [(2, 7)]
