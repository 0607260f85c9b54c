"""Feature templates as arrays for the kernels, and the feature sets of the spanning-tree parsers.

A part of a tree gives its words their names:

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
grandparent) too. First-order parsers use the first two parts, second-order ones the third as well, ``--order high`` all
of them.

A line ``[pairs]`` switches on all pairs of single morphological features of head and modifier.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from crossarc.features.hashing import hash_string
from crossarc.features.language import FeatureSet, Schema, Section, Template, load_set, parse_set

__all__ = ["PARTS", "Compiled", "TemplateSet", "Templates", "compile_templates", "load_templates", "parse_templates"]

PARTS = {
    "arc": Section(("h", "m"), has_distance=True),
    "between": Section(("h", "b", "m")),
    "sibling": Section(("h", "s", "m"), has_distance=True),
    "grandparent": Section(("g", "h", "m"), has_distance=True),
    "any-sibling": Section(("h", "s", "m")),
    "valency": Section(("h",)),
    "label": Section(("h", "m", "g", "l", "r", "a", "z")),
}
SCHEMA = Schema("spanning_tree", PARTS, required=("arc",), switches=("pairs",))


class Compiled(NamedTuple):
    """The templates of one part, as the kernels want them; the first of them are used with distance too."""

    atoms: NDArray[np.int64]  # (offset, attribute)
    bounds: NDArray[np.int64]  # atoms of template t in slot s: bounds[t, s] to bounds[t, s + 1]
    seeds: NDArray[np.uint64]
    with_distance: int


def compile_templates(section: Section, templates: Sequence[Template], seed: str = "") -> Compiled:
    """The templates of a section; ``seed`` tells them from the same ones of another section."""
    atoms: list[tuple[int, int]] = []
    bounds = np.zeros((len(templates), len(section.slots) + 1), dtype=np.int64)
    for t, template in enumerate(templates):
        bounds[t, 0] = len(atoms)
        for s, slot in enumerate(section.slots):
            own = (atom for atom in template.atoms if atom.slot == slot)
            atoms += [(atom.offset, section.attributes.index(atom.attribute)) for atom in own]
            bounds[t, s + 1] = len(atoms)
    return Compiled(
        np.array(atoms, dtype=np.int64).reshape(-1, 2),
        bounds,
        np.array([hash_string(seed + template.text) for template in templates], dtype=np.uint64),
        sum(template.with_distance for template in templates),
    )


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
    """The feature set of a spanning-tree parser."""

    features: FeatureSet

    @property
    def text(self) -> str:
        return self.features.text

    @cached_property
    def compiled(self) -> Templates:
        return self.of_parts(PARTS)

    def of_parts(self, parts: Collection[str]) -> Templates:
        """The templates of these parts only."""
        templates = self.features.templates
        compiled = {part.replace("-", "_"): _compile(part, templates[part] if part in parts else ()) for part in PARTS}
        return Templates(**compiled, pairs="pairs" in self.features.switches)

    def labels_of_arcs(self) -> Compiled:
        """The templates for labels that look at head and modifier alone, not at the rest of a tree."""
        of_labels = self.features.templates["label"]
        return _compile("label", [each for each in of_labels if {atom.slot for atom in each.atoms} <= {"h", "m"}])


def _compile(part: str, templates: Sequence[Template]) -> Compiled:
    return compile_templates(PARTS[part], templates, f"{part}: ")


def load_templates(name: str) -> TemplateSet:
    """A named set of ours, or a file."""
    return TemplateSet(load_set(SCHEMA, name))


def parse_templates(text: str, path: str = "<memory>") -> TemplateSet:
    """Read a set of templates. Raises ``InputError`` with file and line for what cannot be understood."""
    return TemplateSet(parse_set(SCHEMA, text, path))
