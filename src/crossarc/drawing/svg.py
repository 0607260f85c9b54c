"""Trees as SVG that needs no other file: arcs above the words, for light and dark pages."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from html import escape
from math import ceil

from wcwidth import wcwidth

from crossarc.core import Sentence
from crossarc.drawing.layout import Layout, PlacedArc, Spacing, centred, layout
from crossarc.drawing.picture import Arc, Picture, pictures

__all__ = ["svg_of", "text_width", "to_svg"]

_FORM, _TAG, _LABEL, _HEADING = 18, 11, 13, 13  # sizes of letters
_SPACING = Spacing(word=20, port=11, label=9)
_LAYER, _FIRST_LAYER = 28, 24  # heights
_CORNER, _GAP, _TIP = 6, 5, 8
_MARGIN, _BETWEEN = 16, 28
_CROSSING_COLOURS = 4

_STYLE = """
    .crossarc text { font-family: Arial, "Liberation Sans", Helvetica, sans-serif; text-anchor: middle; }
    .crossarc .background { fill: #ffffff; }
    .crossarc .form, .crossarc .label { fill: #1f2328; }
    .crossarc .tag, .crossarc .heading, .crossarc .legend { fill: #59636e; }
    .crossarc .heading, .crossarc .legend { text-anchor: start; }
    .crossarc .line { fill: none; stroke: #59636e; stroke-width: 1.6; }
    .crossarc .shelf { stroke: #59636e; stroke-width: 1; }
    .crossarc .tip { fill: #59636e; stroke: none; }
    .crossarc .weighted .line { stroke: #1f2328; stroke-width: 2; }
    .crossarc .weighted .tip { fill: #1f2328; }
    .crossarc .crossing .line, .crossarc .relabelled .line { stroke-width: 2.2; }
    .crossarc .missing .line { stroke-width: 2; stroke-dasharray: 7 5; }
    .crossarc .extra .line { stroke-width: 3; }
    .crossarc .relabelled .line { stroke-dasharray: 2 3; }
"""
# light, dark
_COLOURS = {
    "crossing-1": ("#cf222e", "#ff7b72"),
    "crossing-2": ("#0969da", "#79c0ff"),
    "crossing-3": ("#8250df", "#d2a8ff"),
    "crossing-4": ("#1a7f37", "#56d364"),
    "missing": ("#cf222e", "#ff7b72"),
    "extra": ("#0969da", "#79c0ff"),
    "relabelled": ("#8250df", "#d2a8ff"),
}
_DARK = """
      .crossarc .background { fill: #0d1117; }
      .crossarc .form, .crossarc .label { fill: #e6edf3; }
      .crossarc .tag, .crossarc .heading, .crossarc .legend, .crossarc .tip { fill: #9da7b3; }
      .crossarc .line, .crossarc .shelf { stroke: #9da7b3; }
      .crossarc .weighted .line { stroke: #e6edf3; }
      .crossarc .weighted .tip { fill: #e6edf3; }
"""


def to_svg(
    sentences: Sentence | Iterable[Sentence],
    *,
    compare: Sentence | Iterable[Sentence] | None = None,
    graph: bool = False,
) -> str:
    """A drawing of a sentence, or of several, one below the other, as an SVG document.

    Parameters
    ----------
    sentences : one sentence or several
        Probabilities in MISC (``RelProb`` or ``ArcProb``, as ``crossarc parse --confidence`` writes them) become the
        opacity of arcs. Trees of the same sentence in a row (``crossarc parse -k``) show what is new against the first.
    compare : the same sentences with other trees
        Both trees in one picture: arcs that are missing from the second, extra there, or have another label.
    graph : bool
        Draw the graph in DEPS, with empty nodes, instead of the tree.

    Examples
    --------
    >>> sentence = Sentence.of(["John", "left"]).with_tree([-1, 2, 0], ["_", "nsubj", "root"])
    >>> to_svg(sentence).count('class="arc')
    2
    """
    return svg_of(list(pictures(sentences, compare=compare, graph=graph)))


def svg_of(drawn: Sequence[Picture]) -> str:
    """The SVG of pictures, one below the other; one alone has no heading."""
    width, y = 2 * _MARGIN, _MARGIN
    groups: list[str] = []
    for picture in (picture.from_left_to_right() for picture in drawn):
        heading = picture.heading if len(drawn) > 1 else ""
        placed = _layout(picture)
        below_heading = y + (2 * _HEADING if heading else 0)
        words_at = below_heading + placed.layers * _LAYER + _FIRST_LAYER - _LABEL // 2
        groups += _group(picture, placed, heading, y, words_at)
        under = [_TAG + 6] * picture.has_tags + [_HEADING + 12] * bool(picture.legend)
        y = words_at + _FORM + 6 + sum(under) + _BETWEEN
        widths = [placed.width, ceil(text_width(heading, _HEADING)), ceil(text_width(picture.legend, _HEADING))]
        width = max(width, max(widths) + 2 * _MARGIN)
    height = y - _BETWEEN + _MARGIN if drawn else 2 * _MARGIN
    size = f'viewBox="0 0 {width} {height}" width="{width}" height="{height}"'
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" class="crossarc" {size} role="img">',
            f"  <title>{_escaped(' / '.join(dict.fromkeys(picture.text for picture in drawn)))}</title>",
            f"  <desc>{_escaped(' / '.join(map(_description, drawn)))}</desc>",
            f"  <style>{_style()}  </style>",
            f'  <rect class="background" width="{width}" height="{height}"/>',
            *groups,
            "</svg>",
            "",
        ]
    )


def text_width(text: str, size: float) -> float:
    """How wide a text is at most in a sans-serif font of this size: as in the widest of those in common use.

    >>> round(text_width("nsubj", 10), 1)
    28.2
    """
    return size * sum(map(_letter_width, unicodedata.normalize("NFC", text)))


def _letter_width(letter: str) -> float:
    for letters, width in _WIDTHS:
        if letter in letters:
            return width
    base = unicodedata.normalize("NFD", letter)[0]
    if base.isascii() and base.isprintable():
        return _letter_width(base) if base != letter else (0.8 if base.isupper() else 0.65)
    return (0.0, 1.0, 1.35)[max(wcwidth(letter), 0)]


_WIDTHS = (
    ("'ijlI", 0.3),
    (" !,-./:;\\|()[]ftr", 0.41),
    ('"*?J_`Lcsz', 0.57),
    ("&+<=>^~#", 0.85),
    ("%@mwMW", 1.01),
)


def _style() -> str:
    sizes = {"form": _FORM, "tag": _TAG, "label": _LABEL, "heading": _HEADING, "legend": _HEADING}
    fonts = "".join(f"    .crossarc .{name} {{ font-size: {size}px; }}\n" for name, size in sizes.items())
    light, dark = ("".join(_colour_rules(mode)) for mode in (0, 1))
    return f"{_STYLE}{fonts}{light}    @media (prefers-color-scheme: dark) {{{_DARK}{dark}    }}\n"


def _colour_rules(mode: int) -> Iterator[str]:
    for name, colours in _COLOURS.items():
        yield f"    .crossarc .{name} .line {{ stroke: {colours[mode]}; }}\n"
        yield f"    .crossarc .{name} .tip, .crossarc .{name} .label {{ fill: {colours[mode]}; }}\n"


def _description(picture: Picture) -> str:
    """All arcs in words, for those who do not see them."""
    arcs = (f"{picture.name(arc.head)} → {picture.name(arc.dependent)}: {arc.caption}" for arc in picture.arcs)
    return "; ".join([*arcs, *([picture.legend] if picture.legend else [])])


def _layout(picture: Picture) -> Layout:
    widths = [ceil(max(text_width(node.form, _FORM), text_width(node.tag, _TAG))) for node in picture.nodes]
    labels = [ceil(text_width(arc.caption, _LABEL)) for arc in picture.arcs]
    return layout([centred(width) for width in widths], [arc[:2] for arc in picture.arcs], labels, _SPACING)


def _group(picture: Picture, placed: Layout, heading: str, y: int, words_at: int) -> Iterator[str]:
    sent_id = f' data-sent-id="{_escaped(picture.sent_id)}"' if picture.sent_id else ""
    yield f'  <g class="sentence"{sent_id}>'
    if heading:
        yield f'    <text class="heading" x="{_MARGIN}" y="{y + _HEADING}">{_escaped(heading)}</text>'
    for arc, place in zip(picture.arcs, placed.arcs, strict=True):
        yield from _arc(picture, arc, place, words_at)
    y = words_at + _FORM
    for node, x, (first, last) in zip(picture.nodes, placed.words, placed.ports, strict=True):
        yield f'    <g class="word" data-id="{node.id}">'
        if last - first > text_width(node.form, _FORM):  # holds the legs that a short word has no room for
            yield f'      <path class="shelf" d="M{_MARGIN + first - 4} {words_at + 1}H{_MARGIN + last + 4}"/>'
        yield f'      <text class="form" x="{_MARGIN + x}" y="{y}">{_escaped(node.form)}</text>'
        if node.tag != "_":
            yield f'      <text class="tag" x="{_MARGIN + x}" y="{y + _TAG + 6}">{_escaped(node.tag)}</text>'
        yield "    </g>"
    if picture.legend:
        y += (_TAG + 6) * picture.has_tags + _HEADING + 12
        yield f'    <text class="legend" x="{_MARGIN}" y="{y}">{_escaped(picture.legend)}</text>'
    yield "  </g>"


def _arc(picture: Picture, arc: Arc, placed: PlacedArc, words_at: int) -> Iterator[str]:
    head = picture.nodes[arc.head - 1].id if arc.head else "0"
    dependent = picture.nodes[arc.dependent - 1].id
    data = f'data-head="{head}" data-dep="{dependent}" data-label="{_escaped(arc.label)}"'
    if arc.other:
        data += f' data-other-label="{_escaped(arc.other)}"'
    if arc.probability is not None:
        data += f' data-probability="{arc.probability}"'
    opacity = "" if arc.opacity is None else f' opacity="{arc.opacity:.2f}"'
    y = words_at - _FIRST_LAYER - (placed.layer - 1) * _LAYER
    names = f"{picture.name(arc.head)} → {picture.name(arc.dependent)}"
    tip_x, tip_y = _MARGIN + placed.dependent, words_at - 1
    label_x = _MARGIN + placed.label + text_width(arc.caption, _LABEL) / 2
    yield f'    <g class="{_classes(picture, arc, placed)}" {data}>'
    yield f"      <title>{_escaped(f'{names}: {arc.caption}')}</title>"
    yield f'      <path class="line"{opacity} d="{_line(arc, placed, y, words_at)}"/>'
    yield f'      <path class="tip"{opacity} d="M{tip_x - 4.5} {tip_y - _TIP}h9L{tip_x} {tip_y}z"/>'
    if arc.caption:
        yield f'      <text class="label" x="{label_x:.1f}" y="{y - 5}">{_escaped(arc.caption)}</text>'
    yield "    </g>"


def _classes(picture: Picture, arc: Arc, placed: PlacedArc) -> str:
    names = ["arc"]
    if arc.probability is not None:
        names.append("weighted")
    if arc.kind != "plain":
        names.append(arc.kind)
    elif placed.colour and not picture.is_comparison:
        names += ["crossing", f"crossing-{(placed.colour - 1) % _CROSSING_COLOURS + 1}"]
    return " ".join(names)


def _line(arc: Arc, placed: PlacedArc, y: int, words_at: int) -> str:
    """Up from the head, across with a gap wherever another leg passes, down to the dependent."""
    start, end = _MARGIN + placed.head, _MARGIN + placed.dependent
    foot = words_at - _TIP
    if not arc.head:
        return f"M{end} {y}V{foot}"
    forwards = 1 if start < end else -1
    path = f"M{start} {words_at - 1}V{y + _CORNER}Q{start} {y} {start + forwards * _CORNER} {y}"
    for first, last in _merged(placed.gaps)[::forwards]:
        near, far = (first - _GAP, last + _GAP)[::forwards]
        path += f"H{_MARGIN + near}M{_MARGIN + far} {y}"
    return f"{path}H{end - forwards * _CORNER}Q{end} {y} {end} {y + _CORNER}V{foot}"


def _merged(gaps: Sequence[int]) -> list[tuple[int, int]]:
    """The first and the last leg of each gap: legs that are close to each other pass through the same."""
    merged: list[tuple[int, int]] = []
    for x in gaps:
        if merged and x - merged[-1][1] <= 3 * _GAP:
            merged[-1] = (merged[-1][0], x)
        else:
            merged.append((x, x))
    return merged


def _escaped(text: str) -> str:
    """For XML, which has no control characters."""
    illegal = ("Cc", "Cs", "Cn")
    return escape("".join("�" if unicodedata.category(letter) in illegal else letter for letter in text))
