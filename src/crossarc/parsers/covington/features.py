"""The feature sets of the incremental parser, as arrays for its kernels.

Section 5 of Nivre (2007) names what LINK(i, j) looks at:

=============  ==============================================================================
``i``, ``j``   the words to be linked; ``i-1``, ``j+2`` ...: their neighbours in the sentence
``k``, ``k2``  the two topmost words of the context stack: roots between i and j, nearest to i
``b``          the bottom of the context stack: the root between i and j that is nearest to j
``h``          the head of i in the graph so far
``l``, ``r``   the leftmost and the rightmost dependent of i
``lj``         the leftmost dependent of j
=============  ==============================================================================

Two attributes are of the graph so far: ``label``, the dependency type of the word, and ``dependents``, the set of the
types of its dependents. Two atoms are of no word: ``distance`` from i to j, and ``roots``, the height of the context
stack. ``feats`` is all of FEATS as one symbol, ``feat`` each morphological feature in it: ``i.feat j.upos`` makes as
many features of a link as i has, ``i.feat j.feat`` one for each pair. The templates of ``[link]`` and ``[label]`` have
one to four atoms, two of them with ``feat`` at most.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from crossarc.features.attributes import ATTRIBUTES
from crossarc.features.hashing import hash_string
from crossarc.features.language import MAX_SETS, Atom, FeatureSet, Schema, Section, Template, load_set, parse_set

__all__ = ["LinkFeatureSet", "LinkTemplates", "SetTemplates", "load_features", "parse_features"]

Indices = NDArray[np.int64]

_MAX_ATOMS = 4
_GRAPH_ATTRIBUTES = ("label", "dependents")
_SET_ATTRIBUTES = ("feat",)
_LINK = Section(
    ("i", "j", "k", "k2", "h", "l", "r", "lj", "b"),
    own_attributes=_GRAPH_ATTRIBUTES,
    set_attributes=_SET_ATTRIBUTES,
    others=("distance", "roots"),
    max_atoms=_MAX_ATOMS,
)
SCHEMA = Schema("covington", {"link": _LINK, "label": _LINK}, required=("link", "label"))


class SetTemplates(NamedTuple):
    """Templates with one or two atoms that have several values: a feature for each value, or each pair of values."""

    atoms: NDArray[np.int64]  # [t, a]: the other atoms of template t, four with those that are always 0
    sets: NDArray[np.int64]  # [t, 2]: the sets of template t; after all others comes one whose only value is 0


class LinkTemplates(NamedTuple):
    """A feature set as the kernels want it.

    Atoms of words come first, then labels, then dependents, then distance and roots, then one that is always 0. Atoms
    with several values are counted apart.
    """

    slots: NDArray[np.int64]  # of each atom but the last three
    offsets: NDArray[np.int64]  # of each atom of a word
    attributes: NDArray[np.int64]
    n_labels: int
    seeds: NDArray[np.uint64]  # of every atom; odd
    links: NDArray[np.int64]  # the four atoms of each feature of a link
    labels: NDArray[np.int64]
    set_slots: NDArray[np.int64]  # of each atom with several values
    set_seeds: NDArray[np.uint64]  # of each of them, and of the one whose only value is 0; odd
    link_sets: SetTemplates
    label_sets: SetTemplates
    alone: NDArray[np.int64]  # [s, w]: templates of links with i alone, and with j alone: without sets, and with


@dataclass(frozen=True)
class LinkFeatureSet:
    """The feature set of an incremental parser."""

    features: FeatureSet

    @property
    def text(self) -> str:
        return self.features.text

    @cached_property
    def templates(self) -> dict[str, list[str]]:
        """The templates of each section, in the order of the kernels: those with sets last (see ``_sorted``)."""
        return {
            section: [" ".join(atoms) for part in _split(own) for atoms in _sorted(part)]
            for section, own in self.features.templates.items()
        }

    @cached_property
    def compiled(self) -> LinkTemplates:
        return _compile(self.features.templates["link"], self.features.templates["label"])


def load_features(name: str) -> LinkFeatureSet:
    """A named set of ours, or a file."""
    return LinkFeatureSet(load_set(SCHEMA, name))


def parse_features(text: str, path: str = "<memory>") -> LinkFeatureSet:
    """Read a feature set. Raises ``InputError`` with file and line for what cannot be understood."""
    return LinkFeatureSet(parse_set(SCHEMA, text, path))


def _sorted(templates: Sequence[Template]) -> list[tuple[str, ...]]:
    """The atoms of each template: first those that look at i alone, then at j alone, each as in the alphabet."""
    atoms = [(_looks_at(template), tuple(sorted(atom.text for atom in template.atoms))) for template in templates]
    return [texts for _, texts in sorted(atoms)]


def _looks_at(template: Template) -> int:
    """0 for i alone (and its neighbours), 1 for j alone, 2 for all else: also for what changes with the graph."""
    slots = {atom.slot if atom.attribute in (*ATTRIBUTES, *_SET_ATTRIBUTES) else "" for atom in template.atoms}
    return 0 if slots == {"i"} else 1 if slots == {"j"} else 2


def _split(templates: Sequence[Template]) -> tuple[list[Template], list[Template]]:
    """Those whose atoms have one value each, and the others."""
    plain: list[Template] = []
    with_sets: list[Template] = []
    for template in templates:
        (with_sets if any(map(_is_set, template.atoms)) else plain).append(template)
    return plain, with_sets


def _is_set(atom: Atom) -> bool:
    return atom.attribute in _SET_ATTRIBUTES


def _compile(links: Sequence[Template], labels: Sequence[Template]) -> LinkTemplates:
    used = {atom.text: atom for template in (*links, *labels) for atom in template.atoms}
    named = [used[text] for text in sorted(used) if used[text].slot]
    kinds = [[atom for atom in named if atom.attribute == kind] for kind in _GRAPH_ATTRIBUTES]
    of_words = sorted((atom for atom in named if atom.attribute in ATTRIBUTES), key=_slot)
    atoms = [*of_words, *kinds[0], *kinds[1]]
    names = [*(atom.text for atom in atoms), *_LINK.others, "nothing"]
    number = {name: n for n, name in enumerate(names)}
    sets = [atom for atom in named if _is_set(atom)]
    set_names = [*(atom.text for atom in sets), "nothing"]
    set_number = {name: n for n, name in enumerate(set_names)}
    (links, links_with_sets), (labels, labels_with_sets) = _split(links), _split(labels)

    def numbers(templates: Sequence[Template], number: dict[str, int] = number, most: int = _MAX_ATOMS) -> Indices:
        """The atoms that have a number, filled up with nothing."""
        known = [[text for text in texts if text in number] for texts in _sorted(templates)]
        padded = [(*texts, *["nothing"] * most)[:most] for texts in known]
        return np.array([[number[text] for text in texts] for texts in padded], dtype=np.int64).reshape(-1, most)

    def with_sets(templates: Sequence[Template]) -> SetTemplates:
        return SetTemplates(numbers(templates), numbers(templates, set_number, MAX_SETS))

    return LinkTemplates(
        np.array([_slot(atom) for atom in atoms], dtype=np.int64),
        np.array([atom.offset for atom in of_words], dtype=np.int64),
        np.array([ATTRIBUTES.index(atom.attribute) for atom in of_words], dtype=np.int64),
        len(kinds[0]),
        np.array([hash_string(f"atom {name}") | 1 for name in names], dtype=np.uint64),
        numbers(links),
        numbers(labels),
        np.array([_slot(atom) for atom in sets], dtype=np.int64),
        np.array([hash_string(f"atom {name}") | 1 for name in set_names], dtype=np.uint64),
        with_sets(links_with_sets),
        with_sets(labels_with_sets),
        np.array([[list(map(_looks_at, own)).count(word) for word in (0, 1)] for own in (links, links_with_sets)]),
    )


def _slot(atom: Atom) -> int:
    return _LINK.slots.index(atom.slot)
