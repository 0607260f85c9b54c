"""Trees as LaTeX, for the package tikz-dependency."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from math import ceil

from crossarc.core import Sentence
from crossarc.drawing.layout import Layout, PlacedArc, Spacing, centred, layout
from crossarc.drawing.picture import Arc, Picture, pictures
from crossarc.drawing.svg import text_width

__all__ = ["escaped", "latex_of", "to_latex"]

_SPACING = Spacing(word=60, port=45, label=35)  # in hundredths of an em
_LABEL = 70  # the size of labels, as tikz-dependency has them
_LAYER = 2.6  # ex
_CROSSING_COLOURS = ("red!80!black", "blue!80!black", "violet", "green!50!black")
_KIND_STYLES = {
    "missing": ("dashed", "red!80!black"),
    "extra": ("very thick", "blue!80!black"),
    "relabelled": ("densely dotted, thick", "violet"),
}
_OPTIONS = "edge slant=0pt, edge horizontal padding=0pt, label style={draw=none, fill=none, anchor=south}"
_PREAMBLE = r"""
% For pdflatex; for lualatex or xelatex with other scripts than Latin, in a font that has them: \setmainfont.
\documentclass[varwidth=\maxdimen, border=6pt]{standalone}
\usepackage{iftex}
\ifPDFTeX
  \usepackage[T1]{fontenc}
  \usepackage[utf8]{inputenc}
  \usepackage{lmodern}
\else
  \usepackage{fontspec}
\fi
\usepackage{tikz-dependency}
\begin{document}
"""


def to_latex(
    sentences: Sentence | Iterable[Sentence],
    *,
    compare: Sentence | Iterable[Sentence] | None = None,
    graph: bool = False,
    standalone: bool = False,
) -> str:
    """A drawing of a sentence, or of several, one below the other, as LaTeX with ``\\usepackage{tikz-dependency}``.

    Parameters
    ----------
    sentences, compare, graph : see ``to_svg``
    standalone : bool
        Make a document that can be compiled, instead of a part of one.

    Examples
    --------
    >>> sentence = Sentence.of(["John", "left"]).with_tree([-1, 2, 0], ["_", "nsubj", "root"])
    >>> print(to_latex(sentence).splitlines()[-2].strip())
    \\deproot[edge height=5.2ex]{2}{root}
    """
    return latex_of(list(pictures(sentences, compare=compare, graph=graph)), standalone=standalone)


def latex_of(drawn: Sequence[Picture], *, standalone: bool) -> str:
    parts = ["\n".join(_picture(picture.from_left_to_right(), with_heading=len(drawn) > 1)) for picture in drawn]
    body = "\n\\par\\bigskip\n".join(parts) + "\n" if parts else ""
    return f"{_PREAMBLE.lstrip()}{body}\\end{{document}}\n" if standalone else body


_SIGNS = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\symbol{34}",
    "&": r"\symbol{38}",  # for \& separates the words of a sentence
    "−": "$-$",
    "≠": r"$\neq$",
    **{sign: f"\\{sign}" for sign in "{}$#_%"},
}
_LIGATURE = re.compile(r"([-'`!?,])(?=[-'`,])")


def escaped(text: str) -> str:
    r"""What TeX prints as this text.

    >>> print(escaped("R&D_50% --"))
    R\symbol{38}D\_50\% -{}-
    """
    apart = _LIGATURE.sub(r"\1\0", text)
    return "".join(_sign(letter) for letter in apart)


def _sign(letter: str) -> str:
    if letter == "\0":
        return "{}"
    return "?" if unicodedata.category(letter) == "Cc" else _SIGNS.get(letter, letter)


def _picture(picture: Picture, *, with_heading: bool) -> Iterator[str]:
    extents, placed = _layout(picture)
    if with_heading and picture.heading:
        yield rf"\noindent{{\small {escaped(picture.heading)}}}\par\nobreak"
    yield r"\noindent"
    yield rf"\begin{{dependency}}[{_OPTIONS}]"
    yield r"  \begin{deptext}[column sep=0pt]"
    yield f"    {_words(picture, extents, placed)}"
    if picture.has_tags:
        yield "    " + r" \& ".join(rf"\scriptsize {_cell(node.tag)}" for node in picture.nodes) + r" \\"
    yield r"  \end{deptext}"
    for arc, place in zip(picture.arcs, placed.arcs, strict=True):
        yield f"  {_edge(picture, placed, arc, place)}"
    yield r"\end{dependency}"
    if picture.legend:
        yield rf"\par\noindent{{\small {escaped(picture.legend)}}}"


def _layout(picture: Picture) -> tuple[list[tuple[int, int]], Layout]:
    # words count as narrower than they may be, labels as wider: then the space between words is enough
    widths = [int(max(text_width(node.form, 75), text_width(node.tag, 50))) for node in picture.nodes]
    extents = [centred(width) for width in widths]
    labels = [ceil(text_width(arc.caption, _LABEL)) for arc in picture.arcs]
    return extents, layout(extents, [arc[:2] for arc in picture.arcs], labels, _SPACING)


def _words(picture: Picture, extents: Sequence[tuple[int, int]], placed: Layout) -> str:
    """The forms, with as much space between them as the labels above need."""
    row = _cell(picture.nodes[0].form)
    for i in range(1, len(picture.nodes)):
        space = placed.words[i] - extents[i][0] - placed.words[i - 1] - extents[i - 1][1]
        row += rf" \&[{space / 100:.2f}em] {_cell(picture.nodes[i].form)}"
    return rf"{row} \\"


def _cell(text: str) -> str:
    """A cell of the table; what begins like an option is kept from being one."""
    cell = escaped(text) if text != "_" else r"\_"
    return f"{{{cell}}}" if cell.startswith(("[", "*")) else cell


def _edge(picture: Picture, placed: Layout, arc: Arc, place: PlacedArc) -> str:
    styles, colour = _look(picture, arc, place.colour)
    label = escaped(arc.caption)
    if arc.head == arc.dependent:
        loop = ", ".join(["->", "loop above", *styles])
        return rf"\path (\wordref{{1}}{{{arc.head}}}) edge[{loop}] node[above] {{\scriptsize {label}}} ();"
    options = [f"edge height={place.layer * _LAYER:.1f}ex"]
    if arc.head:
        for end, x, node in (("start", place.head, arc.head), ("end", place.dependent, arc.dependent)):
            options.append(f"edge {end} x offset={(x - _middle(picture, placed, node)) / 100:.2f}em")
        options.append("rounded corners=2pt")
    if styles:
        options.append(f"edge style={{{', '.join(styles)}}}")
    if colour:
        options.append(f"label style={{text={colour}}}")
    if not arc.head:
        return rf"\deproot[{', '.join(options)}]{{{arc.dependent}}}{{{label}}}"
    return rf"\depedge[{', '.join(options)}]{{{arc.head}}}{{{arc.dependent}}}{{{_seated(label, arc, place)}}}"


def _seated(label: str, arc: Arc, place: PlacedArc) -> str:
    """The label, with space on one side if it must not be in the middle of its arc, where other arcs pass."""
    if not place.gaps:
        return label
    shift = place.label + text_width(arc.caption, _LABEL) / 2 - (place.head + place.dependent) / 2
    space = rf"\hspace*{{{2 * abs(shift) / _LABEL:.2f}em}}"
    return f"{space}{label}" if shift > 0 else f"{label}{space}"


def _middle(picture: Picture, placed: Layout, node: int) -> int:
    """What stands above the middle of a word: the arc from the root, where it has one, for TeX draws that there."""
    pairs = zip(picture.arcs, placed.arcs, strict=True)
    roots = [place.dependent for arc, place in pairs if not arc.head and arc.dependent == node]
    return roots[0] if roots else placed.words[node - 1]


def _look(picture: Picture, arc: Arc, colour: int) -> tuple[list[str], str]:
    """The styles of an arc, and its colour if it has one."""
    if arc.kind != "plain":
        style, name = _KIND_STYLES[arc.kind]
        styles = [style, name]
    elif colour and not picture.is_comparison:
        name = _CROSSING_COLOURS[(colour - 1) % len(_CROSSING_COLOURS)]
        styles = ["thick", name]
    else:
        name, styles = "", []
    if arc.opacity is not None:
        styles.append(f"opacity={arc.opacity:.2f}")
    return styles, name
