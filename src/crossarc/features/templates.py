"""Feature templates: a readable list, and the arrays that the kernels work from.

A template is a line of atoms such as ``h.form m.upos m+1.upos``: the form of the head, the tag of the modifier, and the
tag of the word after the modifier. A part of a tree gives the words their names:

================  ==================================================================================================
``[arc]``         h head, m modifier
``[between]``     h, m, and b, each different tag between them
``[sibling]``     h, m, and s, the child of h next to m towards h (nothing, if m is the first on its side)
``[grandparent]`` g, h, m: g is the head of h
``[any-sibling]`` h, m, and s, any other child of h to the left of m
``[valency]``     h: once with the number of its children to the left, once with that to the right
``[label]``       the arc h -> m in a finished tree: g, the siblings l and r next to m, the outermost children a and z
================  ==================================================================================================

Templates of ``[arc]``, ``[sibling]`` and ``[grandparent]`` are used with the direction of the arc, and again with
direction and distance; all others with the direction only, and those under ``[arc without distance]`` (or sibling,
grandparent) too. First-order parsers use the
first two parts, second-order ones the third as well, ``--order high`` all of them.

A line ``[pairs]`` switches on all pairs of single morphological features of head and modifier.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from crossarc.core import InputError, Place
from crossarc.features.attributes import ATTRIBUTES, PADDING
from crossarc.features.hashing import hash_string

__all__ = ["PARTS", "Compiled", "TemplateSet", "Templates", "load_templates", "parse_templates"]

PARTS = {
    "arc": "hm",
    "between": "hbm",
    "sibling": "hsm",
    "grandparent": "ghm",
    "any-sibling": "hsm",
    "valency": "h",
    "label": "hmglraz",
}
_WITH_DISTANCE = ("arc", "sibling", "grandparent")
_WITHOUT = " without distance"
_ATOM = re.compile(r"([a-z])([+-][12])?\.([a-z]+)")


class Compiled(NamedTuple):
    """The templates of one part, as the kernels want them; the first of them are used with distance too."""

    atoms: NDArray[np.int64]  # (offset, attribute)
    bounds: NDArray[np.int64]  # atoms of template t in slot s: bounds[t, s] to bounds[t, s + 1]
    seeds: NDArray[np.uint64]
    with_distance: int


class Templates(NamedTuple):
    """The templates of all parts."""

    arc: Compiled
    between: Compiled
    sibling: Compiled
    grandparent: Compiled
    any_sibling: Compiled
    valency: Compiled
    label: Compiled
    pairs: bool


@dataclass(frozen=True)
class TemplateSet:
    """A set of templates, and the text it was read from."""

    text: str
    lines: dict[str, tuple[str, ...]]
    with_distance: dict[str, int]  # so many of the lines of a part
    compiled: Templates

    def of_parts(self, parts: Iterable[str]) -> Templates:
        """The templates of these parts only."""
        dropped = {_field(part): _compile(part, (), 0) for part in PARTS if part not in parts}
        return Templates(**{**self.compiled._asdict(), **dropped})

    def labels_of_arcs(self) -> Compiled:
        """The templates for labels that look at head and modifier alone, not at the rest of a tree."""
        lines = [line for line in self.lines["label"] if not re.search(r"\b[glraz][+-.]", line)]
        return _compile("label", lines, 0)


@cache
def load_templates(name: str) -> TemplateSet:
    """A named set of ours, or a file."""
    ours = resources.files("crossarc.features") / "sets" / f"{name}.txt"
    if ours.is_file():
        return parse_templates(ours.read_text(encoding="utf-8"), f"{name}.txt")
    path = Path(name)
    try:
        return parse_templates(path.read_text(encoding="utf-8"), name)
    except OSError:
        names = sorted(p.name[:-4] for p in (resources.files("crossarc.features") / "sets").iterdir())
        raise InputError(f"no such file, nor a feature set of ours ({', '.join(names)})", Place(name)) from None


def parse_templates(text: str, path: str = "<memory>") -> TemplateSet:
    """Read a set of templates. Raises ``InputError`` with file and line for what cannot be understood.

    >>> parse_templates("[arc]\\nh.upos m.upos  # tags").lines["arc"]
    ('h.upos m.upos',)
    """
    near: dict[str, list[str]] = {part: [] for part in PARTS}
    plain: dict[str, list[str]] = {part: [] for part in PARTS}
    part, pairs, lines = "", False, near
    for number, line in enumerate(text.splitlines(), 1):
        content = " ".join(line.partition("#")[0].split())
        if content == "[pairs]":
            pairs = True
        elif content.startswith("["):
            part = content.strip("[]").removesuffix(_WITHOUT)
            lines = near if part in _WITH_DISTANCE and not content.endswith(f"{_WITHOUT}]") else plain
            if part not in PARTS:
                raise InputError(f"unknown part {content}; there are {', '.join(PARTS)} and pairs", Place(path, number))
        elif content:
            if not part:
                raise InputError("a template before the first part, such as [arc]", Place(path, number))
            for atom in content.split():
                _check_atom(atom, part, Place(path, number))
            lines[part].append(content)
    if not near["arc"] and not plain["arc"]:
        raise InputError("no templates for [arc]", Place(path))
    counts = {part: len(near[part]) for part in PARTS}
    all_lines = {part: (*near[part], *plain[part]) for part in PARTS}
    compiled = {_field(part): _compile(part, all_lines[part], counts[part]) for part in PARTS}
    return TemplateSet(text, all_lines, counts, Templates(**compiled, pairs=pairs))


def _field(part: str) -> str:
    return part.replace("-", "_")


def _check_atom(atom: str, part: str, place: Place) -> None:
    match = _ATOM.fullmatch(atom)
    if not match:
        raise InputError(f"{atom!r} is not an atom such as h.upos or m-1.form", place)
    if match[1] not in PARTS[part]:
        raise InputError(f"{atom!r}: [{part}] has the words {', '.join(PARTS[part])}", place)
    if match[3] not in ATTRIBUTES:
        raise InputError(f"{atom!r}: a word has the attributes {', '.join(ATTRIBUTES)}", place)


def _compile(part: str, lines: Sequence[str], with_distance: int) -> Compiled:
    slots = PARTS[part]
    atoms: list[tuple[int, int]] = []
    bounds = np.zeros((len(lines), len(slots) + 1), dtype=np.int64)
    for t, line in enumerate(lines):
        matches = [_ATOM.fullmatch(atom) for atom in line.split()]
        bounds[t, 0] = len(atoms)
        for s, slot in enumerate(slots):
            for match in matches:
                assert match is not None
                if match[1] == slot:
                    offset = int(match[2] or 0)
                    assert abs(offset) <= PADDING
                    atoms.append((offset, ATTRIBUTES.index(match[3])))
            bounds[t, s + 1] = len(atoms)
    seeds = np.array([hash_string(f"{part}: {line}") for line in lines], dtype=np.uint64)
    return Compiled(np.array(atoms, dtype=np.int64).reshape(-1, 2), bounds, seeds, with_distance)
