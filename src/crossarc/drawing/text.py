"""Trees as text for a terminal: arcs above the words, or to their left where the line is too short for that."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from wcwidth import wcswidth

from crossarc.core import Sentence
from crossarc.drawing.layout import Layout, PlacedArc, Spacing, centred, layers, layout, spans
from crossarc.drawing.picture import Arc, Node, Picture, pictures

__all__ = ["text_of", "to_text"]

_SPACING = Spacing(word=2, port=2, label=1)
_BOLD, _FAINT = "1", "2"
_CROSSING_COLOURS = ("31", "34", "35", "32")
_KIND_COLOURS = {"missing": "31", "extra": "34", "relabelled": "35"}


class _Strokes(NamedTuple):
    across: str
    upright: str
    down_right: str
    down_left: str
    up_right: str
    down: str
    up: str


_PLAIN = _Strokes(*"─│╭╮╰┬┴")
_DASHED = _Strokes(*"╌╎╭╮╰┬┴")
_DOUBLE = _Strokes(*"═║╔╗╚╦╩")


def to_text(
    sentences: Sentence | Iterable[Sentence],
    *,
    compare: Sentence | Iterable[Sentence] | None = None,
    graph: bool = False,
    width: int = 100,
    colour: bool = False,
) -> str:
    """A drawing of a sentence, or of several, one below the other, in Unicode's box-drawing characters.

    Parameters
    ----------
    sentences, compare, graph : see ``to_svg``
        Arcs of a probability below 0.5 are dashed.
    width : int
        Wider sentences are drawn with one word on each line and the arcs to the left.
    colour : bool
        Use a terminal's colours.

    Examples
    --------
    >>> sentence = Sentence.of(["John", "left"]).with_tree([-1, 2, 0], ["_", "nsubj", "root"])
    >>> print(to_text(sentence, width=1), end="")
      ╭▶ John  nsubj
    ╶▶┴─ left  root
    """
    drawn = list(pictures(sentences, compare=compare, graph=graph))
    return "\n".join(text_of(picture, width, colour=colour, heading=len(drawn) > 1) for picture in drawn)


def text_of(picture: Picture, width: int, *, colour: bool, heading: bool) -> str:
    """The text of one picture, which ends in a line feed."""
    placed = _layout(picture)
    canvas = _across(picture, placed) if placed.width <= width else _downwards(picture, placed)
    lines = canvas.lines(colour)
    if heading and picture.heading:
        lines.insert(0, _styled(_clean(picture.heading), _BOLD if colour else ""))
    if picture.legend:
        lines.append(_styled(_clean(picture.legend), _FAINT if colour else ""))
    return "".join(f"{line}\n" for line in lines)


class _Canvas:
    """Cells of a terminal; a text has all its letters in its first cell."""

    def __init__(self, height: int, width: int) -> None:
        self.cells = [[" "] * width for _ in range(height)]
        self.styles = [[""] * width for _ in range(height)]

    def put(self, row: int, column: int, text: str, style: str = "") -> None:
        cells = [text, *[""] * (_width(text) - 1)]
        self.cells[row][column : column + len(cells)] = cells
        self.styles[row][column : column + len(cells)] = [style] * len(cells)

    def lines(self, colour: bool) -> list[str]:
        if not colour:
            return ["".join(row).rstrip() for row in self.cells]
        return [_in_colour(cells, styles) for cells, styles in zip(self.cells, self.styles, strict=True)]


def _in_colour(cells: Sequence[str], styles: Sequence[str]) -> str:
    end = max((i for i, cell in enumerate(cells, 1) if cell.strip()), default=0)
    line, start = "", 0
    for i in range(1, end + 1):
        if i == end or styles[i] != styles[start]:
            line += _styled("".join(cells[start:i]), styles[start])
            start = i
    return line


def _styled(text: str, style: str) -> str:
    return f"\033[{style}m{text}\033[0m" if style and text else text


def _clean(text: str) -> str:
    """Without control characters, which would move a terminal's cursor."""
    return "".join(
        "�" if unicodedata.category(letter)[0] == "C" and letter not in "\u200c\u200d" else letter for letter in text
    )


def _width(text: str) -> int:
    """How many cells a text takes in a terminal: two for East Asian letters, none for combining marks."""
    return max(wcswidth(text), 1)


def _caption(arc: Arc) -> str:
    return _clean(arc.caption)


def _layout(picture: Picture) -> Layout:
    extents = []
    for node in picture.nodes:
        size = max(_width(_clean(node.form)), _width(_clean(node.tag)) if node.tag != "_" else 0)
        extents.append(centred(size))
    labels = [_width(caption) + 1 if (caption := _caption(arc)) else 0 for arc in picture.arcs]
    return layout(extents, [arc[:2] for arc in picture.arcs], labels, _SPACING)


def _across(picture: Picture, placed: Layout) -> _Canvas:
    """Words in a row, arcs above them."""
    words_at = placed.layers + 1
    canvas = _Canvas(words_at + 1 + picture.has_tags, placed.width + 1)
    # the legs of higher arcs pass through lower ones
    for arc, place in sorted(zip(picture.arcs, placed.arcs, strict=True), key=lambda pair: pair[1].layer):
        _draw_arc(canvas, picture, arc, place, placed.layers)
    for node, x, (first, last) in zip(picture.nodes, placed.words, placed.ports, strict=True):
        for shelf in range(first, last + 1):  # holds the legs that a short word has no room for
            canvas.put(words_at, shelf, "▔", _FAINT)
        for i, text in enumerate(_lines_of(node, picture)):
            canvas.put(words_at + i, x - _width(text) // 2, text, _FAINT if i else _BOLD)
    return canvas


def _lines_of(node: Node, picture: Picture) -> list[str]:
    return [_clean(node.form), *([_clean(node.tag) if node.tag != "_" else " "] if picture.has_tags else [])]


def _draw_arc(canvas: _Canvas, picture: Picture, arc: Arc, place: PlacedArc, layers: int) -> None:
    strokes, style = _strokes(arc), _style(picture, arc, place.colour)
    row = layers - place.layer
    if arc.head:
        left, right = sorted((place.head, place.dependent))
        for x in range(left + 1, right):
            canvas.put(row, x, strokes.across, style)
        canvas.put(row, left, strokes.down_right, style)
        canvas.put(row, right, strokes.down_left, style)
    for y in range(row + 1, layers + 1):
        if arc.head:
            canvas.put(y, place.head, strokes.upright, style)
        canvas.put(y, place.dependent, strokes.upright if y < layers else "▼", style)
    if caption := _caption(arc):
        canvas.put(row, place.label, f" {caption} ", style)


def _strokes(arc: Arc) -> _Strokes:
    if arc.kind == "extra":
        return _DOUBLE
    if arc.kind == "missing" or (arc.probability is not None and arc.probability < 0.5):
        return _DASHED
    return _PLAIN


def _style(picture: Picture, arc: Arc, colour: int) -> str:
    if arc.kind != "plain":
        return _KIND_COLOURS[arc.kind]
    if colour and not picture.is_comparison:
        return _CROSSING_COLOURS[(colour - 1) % len(_CROSSING_COLOURS)]
    return ""


class _Column(NamedTuple):
    """An arc of a drawing with one word on each line: its ends are lines, from 1."""

    x: int
    arc: Arc
    style: str

    def passes(self, line: int) -> bool:
        return bool(self.arc.head) and min(self.arc[:2]) < line < max(self.arc[:2])


def _downwards(picture: Picture, placed: Layout) -> _Canvas:
    """One word on each line, arcs in columns to the left. An arrow stands right where an arc comes to its dependent."""
    columns, words_at = _columns(picture, placed)
    table = _table(picture, columns)
    canvas = _Canvas(len(picture.nodes), words_at + max(_width(row) for row, _ in table))
    for line, (row, style) in enumerate(table, 1):
        for column in columns:
            if column.passes(line):
                canvas.put(line - 1, column.x, _strokes(column.arc).upright, column.style)
        _draw_ends(canvas, line, columns, words_at)
        canvas.put(line - 1, words_at, row, style)
    return canvas


def _columns(picture: Picture, placed: Layout) -> tuple[list[_Column], int]:
    """The columns of the arcs, from left to right, and where the words begin. The root's arcs come from the edge."""
    depths = iter(layers(spans([arc[:2] for arc in picture.arcs if arc.head], shared=True)))
    depth = [next(depths) if arc.head else 0 for arc in picture.arcs]
    deepest = max(depth, default=0) + 1
    columns = [
        _Column(2 * (deepest - depth) if depth else 0, arc, _style(picture, arc, place.colour))
        for arc, depth, place in zip(picture.arcs, depth, placed.arcs, strict=True)
    ]
    return sorted(columns, key=lambda column: column.x), 2 * deepest + 1


def _draw_ends(canvas: _Canvas, line: int, columns: Sequence[_Column], words_at: int) -> None:
    """The ends of arcs at one word, from the outermost column to the word; other arcs pass through."""
    passing = {column.x for column in columns if column.passes(line)}
    ends = [column for column in columns if line in column.arc[:2]]
    for column in ends:
        arc, strokes = column.arc, _strokes(column.arc)
        for x in range(column.x + 1, words_at - 1):
            if x not in passing:
                canvas.put(line - 1, x, strokes.across, column.style)
        canvas.put(line - 1, column.x, _corner(arc, line, strokes, is_first=column is ends[0]), column.style)
        if arc.dependent == line:
            canvas.put(line - 1, column.x + 1, "▶", column.style)


def _corner(arc: Arc, line: int, strokes: _Strokes, *, is_first: bool) -> str:
    if not arc.head:
        return "╶"
    if arc.head == arc.dependent:
        return "↺"
    if line < max(arc[:2]):
        return strokes.down_right if is_first else strokes.down
    return strokes.up_right if is_first else strokes.up


def _table(picture: Picture, columns: Sequence[_Column]) -> list[tuple[str, str]]:
    """What stands on each line, and its style: the word, its tag, and the labels of the arcs that come to it."""
    incoming: list[list[Arc]] = [[] for _ in picture.nodes]
    for column in columns:
        incoming[column.arc.dependent - 1].append(column.arc)
    captions = [", ".join(filter(None, map(_caption, arcs))) for arcs in incoming]
    forms = [_clean(node.form) for node in picture.nodes]
    tags = [_clean(node.tag) if node.tag != "_" else "" for node in picture.nodes]
    widths = [max(map(_width, column)) for column in (forms, tags)]
    rows = []
    for form, tag, caption, arcs in zip(forms, tags, captions, incoming, strict=True):
        cells = [_padded(form, widths[0]), *([_padded(tag, widths[1])] if picture.has_tags else []), caption]
        style = next((_style(picture, arc, 0) for arc in arcs if arc.kind != "plain"), "")
        rows.append(("  ".join(cells).rstrip(), style))
    return rows


def _padded(text: str, width: int) -> str:
    return text + " " * (width - (_width(text) if text else 0))
