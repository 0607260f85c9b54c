"""Where everything goes: pure arithmetic on widths, in whatever unit the format has (pixels, cells).

An arc is a leg up from its head, a line across in its *layer*, and a leg down to its dependent. Each end has a *port*
of its own at its word, so that lines meet only where arcs cross; there the leg of the higher arc passes through the
line of the lower one. A label sits on its line, between the legs that pass through. Words move apart until all labels
fit: labels can therefore never touch each other, a word, or another arc.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, pairwise
from typing import NamedTuple

__all__ = ["Layout", "PlacedArc", "Spacing", "centred", "layers", "layout", "spans"]

Span = tuple[int, int]


class Spacing(NamedTuple):
    """The least distances of a picture, in its unit: points, or columns of text."""

    word: int  # between neighbouring words
    port: int  # between neighbouring ports of a word
    label: int  # on either side of a label


class PlacedArc(NamedTuple):
    """``layer`` counts from 1 above the words; ``gaps`` are where legs of other arcs pass through the line."""

    layer: int
    head: int
    dependent: int
    label: int  # where it begins
    gaps: tuple[int, ...]
    colour: int  # arcs that cross have different ones; 0 is that of arcs which need no other


class Layout(NamedTuple):
    """Where words and arcs stand: what all pictures of a tree are drawn from."""

    words: tuple[int, ...]  # their centres
    ports: tuple[Span, ...]  # the first and the last port of each word
    arcs: tuple[PlacedArc, ...]
    layers: int
    width: int


class _Port(NamedTuple):
    node: int
    place: int  # among the ports of its node
    arc: int
    offset: int  # from the centre of its node


def centred(width: int) -> Span:
    """How far something reaches to both sides of its centre."""
    return width // 2, width - width // 2


def layout(extents: Sequence[Span], arcs: Sequence[tuple[int, int]], labels: Sequence[int], spacing: Spacing) -> Layout:
    """Place words, arcs and labels. O(a²) for a arcs.

    Parameters
    ----------
    extents : for each word, how far it reaches to the left and to the right of its centre
    arcs : (head, dependent) in 1..n; the head 0 is the root, whose arcs come from above
    labels : the width of each arc's label
    """
    heights = _heights(arcs)
    ports = _ports(len(extents), arcs, heights, labels, spacing)
    ends = _ends(ports, len(arcs))
    passing = [
        [port for port in _ports_between(ports, *both) if heights[port.arc] > heights[arc]]
        for arc, both in enumerate(ends)
    ]
    row = _Row(extents, ports, spacing)
    seats = _seats(row, arcs, ends, passing, labels, spacing)
    colours = _colours(passing, [right.node - left.node for left, right in ends])

    centres = row.centres()
    placed = []
    for arc, (head, dependent) in enumerate(arcs):
        left, right, start, end = (_x(port, centres) for port in (*ends[arc], *seats[arc]))
        label = start + (end - start - labels[arc]) // 2
        if dependent < head:
            left, right = right, left
        gaps = tuple(_x(port, centres) for port in passing[arc])
        placed.append(PlacedArc(heights[arc], left, right, label, gaps, colours[arc]))
    reaches = [(_x(some[0], centres), _x(some[-1], centres)) if some else None for some in ports[1:]]
    words = [(centre, reach or (centre, centre)) for centre, reach in zip(centres, reaches, strict=True)]
    return _at_the_left_edge(words, placed, max(heights, default=0), row.extents, labels)


def spans(arcs: Sequence[tuple[int, int]], *, shared: bool = False) -> list[Span]:
    """The stretches that arcs cover, for ``layers``.

    Arcs that end at the same word on different sides of it do not meet there, unless they have to share one port
    (``shared``).
    """
    if shared:
        return [(2 * min(arc), 2 * max(arc) + 1) for arc in arcs]
    # around word w: arcs to the left end at 4w-1, a loop goes from 4w to 4w+1, arcs to the right begin at 4w+2
    return [(4 * h, 4 * h + 1) if h == d else (4 * min(h, d) + 2, 4 * max(h, d) - 1) for h, d in arcs]


def layers(stretches: Sequence[Span]) -> list[int]:
    """The layer of each stretch, from 1: above all that lie within it, and apart from all that it meets.

    >>> layers([(0, 3), (1, 2), (2, 5), (6, 7)])
    [2, 1, 1, 1]
    """
    result = [0] * len(stretches)
    done: list[int] = []
    for i in sorted(range(len(stretches)), key=lambda i: (stretches[i][1] - stretches[i][0], stretches[i], i)):
        start, end = stretches[i]
        met = [j for j in done if max(start, stretches[j][0]) < min(end, stretches[j][1])]
        within = [result[j] for j in met if start <= stretches[j][0] and stretches[j][1] <= end]
        layer = 1 + max(within, default=0)
        taken = {result[j] for j in met}
        while layer in taken:
            layer += 1
        result[i] = layer
        done.append(i)
    return result


def _heights(arcs: Sequence[tuple[int, int]]) -> list[int]:
    """Layers of all arcs; those of the root come from above all others."""
    among_words = layers(spans([arc for arc in arcs if arc[0]]))
    top = max(among_words, default=0) + 1
    following = iter(among_words)
    return [next(following) if head else top for head, _ in arcs]


def _ports(
    nodes: int, arcs: Sequence[tuple[int, int]], heights: Sequence[int], labels: Sequence[int], spacing: Spacing
) -> list[list[_Port]]:
    """The ports of each node from left to right, in such an order that arcs of the same word do not cross."""
    keyed: list[list[tuple[int, int, int]]] = [[] for _ in range(nodes + 1)]  # side, order, arc
    for arc, (head, dependent) in enumerate(arcs):
        if not head:
            keyed[dependent].append((1, arc, arc))
        elif head == dependent:
            keyed[head] += [(2, arc, arc), (2, arc, arc)]
        else:
            keyed[max(head, dependent)].append((0, heights[arc], arc))
            keyed[min(head, dependent)].append((3, -heights[arc], arc))
    ports = []
    for node, keys in enumerate(keyed):
        keys.sort()
        steps = [_step(left, right, labels, spacing) for left, right in pairwise(keys)]
        offsets = list(accumulate(steps, initial=0))
        ports.append([_Port(node, i, key[2], offsets[i] - offsets[-1] // 2) for i, key in enumerate(keys)])
    return ports


def _step(left: tuple[int, int, int], right: tuple[int, int, int], labels: Sequence[int], spacing: Spacing) -> int:
    """How far apart two neighbouring ports of a word are."""
    if left == right:  # the two ends of a loop
        return max(labels[left[2]] + 2 * spacing.label, spacing.port)
    if left[0] == right[0] == 1:
        return max(_between_middles(left[2], right[2], labels, spacing), spacing.port)
    return spacing.port


def _ends(ports: Sequence[Sequence[_Port]], arcs: int) -> list[tuple[_Port, _Port]]:
    """The left and the right port of each arc; those of the root have one port."""
    found: list[list[_Port]] = [[] for _ in range(arcs)]
    for node in ports:
        for port in node:
            found[port.arc].append(port)
    return [(both[0], both[-1]) for both in found]


def _ports_between(ports: Sequence[Sequence[_Port]], left: _Port, right: _Port) -> list[_Port]:
    """The ports after the one and before the other."""
    nodes = range(left.node, right.node + 1)
    return [port for node in nodes for port in ports[node] if left[:2] < port[:2] < right[:2]]


def _x(port: _Port, centres: Sequence[int]) -> int:
    return centres[port.node - 1] + port.offset


def _seats(
    row: _Row,
    arcs: Sequence[tuple[int, int]],
    ends: Sequence[tuple[_Port, _Port]],
    passing: Sequence[Sequence[_Port]],
    labels: Sequence[int],
    spacing: Spacing,
) -> list[tuple[_Port, _Port]]:
    """The two ports between which each label goes, short arcs first; words move apart where it needs more space."""
    seats = list(ends)
    for arc in sorted(range(len(arcs)), key=lambda arc: (ends[arc][1].node - ends[arc][0].node, arc)):
        left, right = ends[arc]
        if left.node < right.node:
            seats[arc] = row.seat([left, *passing[arc], right], labels[arc] + 2 * spacing.label)
    roots = sorted(ends[arc][0] for arc, (head, _) in enumerate(arcs) if not head)
    for left, right in pairwise(roots):
        row.spread(left, right, _between_middles(left.arc, right.arc, labels, spacing))
    return seats


def _between_middles(left: int, right: int, labels: Sequence[int], spacing: Spacing) -> int:
    """How far apart the middles of two labels must be."""
    return labels[left] // 2 + spacing.label + labels[right] - labels[right] // 2


class _Row:
    """Words in a row that can be moved apart, never closer."""

    def __init__(self, extents: Sequence[Span], ports: Sequence[Sequence[_Port]], spacing: Spacing) -> None:
        half = spacing.port // 2
        self.extents = [
            (max(left, half - node[0].offset), max(right, half + node[-1].offset)) if node else (left, right)
            for (left, right), node in zip(extents, ports[1:], strict=True)
        ]
        self.distances = [left[1] + spacing.word + right[0] for left, right in pairwise(self.extents)]

    def centres(self) -> list[int]:
        return list(accumulate(self.distances, initial=0))[: len(self.extents)]

    def spread(self, left: _Port, right: _Port, least: int) -> None:
        """Make room between two ports, the same at every space between their words."""
        centres = self.centres()
        lacking = least - (_x(right, centres) - _x(left, centres))
        if lacking > 0 and left.node < right.node:
            share, rest = divmod(lacking, right.node - left.node)
            for i in range(left.node - 1, right.node - 1):
                self.distances[i] += share + (i - left.node + 1 < rest)

    def seat(self, stops: Sequence[_Port], least: int) -> tuple[_Port, _Port]:
        """The two neighbouring stops between which a label goes: where it fits, next to the middle of its arc."""
        centres = self.centres()
        middle = _x(stops[0], centres) + _x(stops[-1], centres)

        def rank(stretch: tuple[_Port, _Port]) -> tuple[bool, int, int]:
            start, end = (_x(port, centres) for port in stretch)
            lacking = max(least - (end - start), 0)
            # two ports of the same word cannot be moved apart
            return lacking > 0 and stretch[0].node == stretch[1].node, lacking, abs(start + end - middle)

        best = min(pairwise(stops), key=rank)
        self.spread(*best, least)
        return best


def _colours(passing: Sequence[Sequence[_Port]], lengths: Sequence[int]) -> list[int]:
    """Different numbers for arcs that cross. The fewer an arc crosses, the smaller its number."""
    crossed: list[set[int]] = [set() for _ in passing]
    for arc, ports in enumerate(passing):
        for port in ports:
            crossed[arc].add(port.arc)
            crossed[port.arc].add(arc)
    colours = [-1] * len(passing)
    for arc in sorted(range(len(passing)), key=lambda arc: (len(crossed[arc]), lengths[arc], arc)):
        taken = {colours[other] for other in crossed[arc]}
        colours[arc] = next(colour for colour in range(len(passing)) if colour not in taken)
    return colours


def _at_the_left_edge(
    words: Sequence[tuple[int, Span]],
    arcs: Sequence[PlacedArc],
    top: int,
    extents: Sequence[Span],
    labels: Sequence[int],
) -> Layout:
    """The same, moved so that nothing begins left of 0."""
    starts = [centre - left for (centre, _), (left, _) in zip(words, extents, strict=True)]
    ends = [centre + right for (centre, _), (_, right) in zip(words, extents, strict=True)]
    starts += [arc.label for arc in arcs]
    ends += [arc.label + width for arc, width in zip(arcs, labels, strict=True)]
    left = min(starts, default=0)
    centres = tuple(centre - left for centre, _ in words)
    ports = tuple((first - left, last - left) for _, (first, last) in words)
    moved = (
        PlacedArc(a.layer, a.head - left, a.dependent - left, a.label - left, tuple(x - left for x in a.gaps), a.colour)
        for a in arcs
    )
    return Layout(centres, ports, tuple(moved), top, max(ends, default=0) - left)
