"""The features of an extra arc by where its words stand in the basic tree, as arrays for the kernels.

=============  ==================================================================================================
``h``, ``m``   head and modifier of the extra arc
``hm``         the head of m in the basic tree
``lh``, ``lm`` the leftmost children of h and of m there
``path``       the labels on the way from m to h in the basic tree, up and down
``steps``      the number of steps of that way, up and down
``rival``      whether h has another child there with the label of m
=============  ==================================================================================================

Words have the attribute ``label`` beside those of every feature set. A template of ``[path]`` has a path or its steps
or neither, up to two words, and perhaps the rival. ``[children]`` switches on the path with the label of each child of
the head.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from crossarc.core import CrossarcError
from crossarc.features.attributes import ATTRIBUTES
from crossarc.features.language import Atom, FeatureSet, Schema, Section, Template

__all__ = ["SCHEMA", "PathTemplates", "compile_path"]

_BASES = ("path", "steps")
_PATH = Section(("h", "m", "hm", "lh", "lm"), own_attributes=("label",), others=(*_BASES, "rival"), max_atoms=4)
SCHEMA = Schema("graph", {"path": _PATH}, required=(), switches=("children",))


class PathTemplates(NamedTuple):
    """A feature set as the kernels want it."""

    atoms: NDArray[np.int64]  # of each atom of a word: slot, offset, and attribute, the label being the last of these
    words: NDArray[np.int64]  # the one or two atoms of each template, -1 for none
    bases: NDArray[np.int64]  # of each template: 0 for none, 1 for the path, 2 for its steps
    rivals: NDArray[np.bool_]  # whether a template has the rival
    children: bool


def compile_path(features: FeatureSet) -> PathTemplates:
    """The arrays of a feature set. Raises ``CrossarcError`` for a template with too many words."""
    templates = features.templates["path"]
    atoms = list(dict.fromkeys(atom for template in templates for atom in _words(template)))
    names = (*ATTRIBUTES, *_PATH.own_attributes)
    rows = [(_PATH.slots.index(atom.slot), atom.offset, names.index(atom.attribute)) for atom in atoms]
    words = [[*map(atoms.index, _words(template)), -1, -1][:2] for template in templates]
    return PathTemplates(
        np.array(rows, dtype=np.int64).reshape(-1, 3),
        np.array(words, dtype=np.int64).reshape(-1, 2),
        np.array([_base(template) for template in templates], dtype=np.int64),
        np.array(["rival" in template.text.split() for template in templates], dtype=np.bool_),
        "children" in features.switches,
    )


def _words(template: Template) -> list[Atom]:
    words = [atom for atom in template.atoms if atom.slot]
    if len(words) > 2:
        raise CrossarcError(f"{template.text!r}: a template of [path] has at most two words")
    return words


def _base(template: Template) -> int:
    bases = [1 + _BASES.index(atom.text) for atom in template.atoms if atom.text in _BASES]
    if len(bases) > 1:
        raise CrossarcError(f"{template.text!r}: a template of [path] has either the path or its steps")
    return bases[0] if bases else 0
