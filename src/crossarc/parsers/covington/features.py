"""The feature model of the incremental parser: a readable list, and the arrays that the kernels work from.

Section 5 of Nivre (2007) names what LINK(i, j) looks at. An atom is one of these words and an attribute of it, such as
``j+1.upos``:

=============  ==============================================================================
``i``, ``j``   the words to be linked; ``i-1``, ``j+2`` ...: their neighbours in the sentence
``k``, ``k2``  the two topmost words of the context stack: roots between i and j, nearest to i
``h``          the head of i in the graph so far
``l``, ``r``   the leftmost and the rightmost dependent of i
``lj``         the leftmost dependent of j
=============  ==============================================================================

Attributes are those of every feature set of ours (form, lemma, upos ...) and two of the graph so far: ``label``, the
dependency type of the word, and ``dependents``, the set of the types of its dependents. Two atoms stand alone:
``distance`` from i to j, and ``roots``, the height of the context stack.

A line under ``[link]`` or ``[label]`` is a conjunction of one to four atoms. Several atoms in brackets stand for each
of them in turn: ``i.upos (j.upos j.form)`` is two features, and ``(i.upos j.upos) (i.upos j.upos)`` three, both atoms
and their pair, which is what a polynomial kernel of degree 2 makes of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from crossarc.core import InputError, Place
from crossarc.features.attributes import ATTRIBUTES
from crossarc.features.hashing import hash_string

__all__ = ["ADDRESSES", "DEFAULT", "FeatureModel", "FeatureSet", "load_features", "parse_features"]

ADDRESSES = ("i", "j", "k", "k2", "h", "l", "r", "lj")

DEFAULT = """\
[link]
# the core features of Nivre (2007), section 5
(i.form j.form j+1.form h.form)
i.lemma
(i-1.upos i.upos j.upos j+1.upos j+2.upos k.upos k2.upos)
(i.xpos j.xpos k.xpos)
(i.feats j.feats)
(i.label j.label l.label lj.label r.label)

# ours: more of them, and those conjunctions that help
(j.lemma i+1.upos j-1.upos h.upos l.upos r.upos lj.upos distance roots)
(i.upos i.xpos i.lemma i.form i.feats i.label) (i.upos i.xpos i.lemma i.form i.feats i.label)
(j.upos j.xpos j.lemma j.form j.feats) (j.upos j.xpos j.lemma j.form j.feats)
(i.upos i.xpos i.lemma i.form i.feats i.label) (j.upos j.xpos j.lemma j.form j.feats)
(i.upos j.upos i.feats j.feats) (i-1.upos i+1.upos j-1.upos j+1.upos j+2.upos j+1.form k.upos k.xpos k2.upos)
(i.upos j.upos i.feats j.feats) (h.upos h.form l.upos r.upos lj.upos l.label r.label lj.label j.label distance roots)
(i.form j.form i.lemma j.lemma) (distance k.upos i-1.upos j+1.upos h.upos l.label r.label lj.label)
(h.lemma k.lemma l.lemma r.lemma lj.lemma)
(h.lemma k.lemma l.lemma r.lemma lj.lemma) (i.upos j.upos)
(i.dependents j.dependents)
(i.dependents j.dependents) (i.upos j.upos)
i.lemma lj.lemma

i.upos j.upos (h.lemma k.lemma l.lemma r.lemma lj.lemma i.dependents j.dependents)
i.upos j.upos (i-1.upos i+1.upos j-1.upos j+1.upos j+2.upos k.upos k2.upos h.upos l.upos r.upos lj.upos)
i.upos j.upos (i.label l.label r.label lj.label h.form i.suffix j.suffix distance roots)
i.lemma j.upos (j+1.upos k.upos i.label l.label r.label lj.label l.lemma lj.lemma i.dependents distance)
i.upos j.lemma (j+1.upos k.upos i.label l.label r.label lj.label r.lemma lj.lemma j.dependents distance)
i.feats j.feats (i.label r.label lj.label j+1.upos k.upos distance)
i.feats j.upos (r.label lj.label)
i.upos j.feats (r.label lj.label)
i.xpos j.xpos (k.xpos j+1.upos)
i.lemma j.lemma (lj.lemma distance)
i.upos lj.lemma distance
i.upos i.label h.upos
i.upos k.upos k2.upos
j.upos j+1.upos j+2.upos

i.upos j.upos (i-1.upos i+1.upos) (j-1.upos j+1.upos)
i.upos j.upos k.upos (k2.upos j+1.upos lj.lemma distance)
i.upos j.upos j+1.upos (j+2.upos distance)
i.upos j.upos r.label (l.label lj.label)
i.upos j.upos i.label h.upos
i.upos j.upos i.dependents j.dependents
i.upos j.upos lj.lemma distance
i.upos j.upos i.feats j.feats
i.upos j.upos i.lemma j.lemma
i.lemma j.upos k.upos distance
i.upos j.lemma k.upos distance

[label]
i.upos j.upos (distance i-1.upos i+1.upos j-1.upos j+1.upos k.upos l.upos r.upos lj.upos)
i.upos j.upos (i.label l.label r.label lj.label l.lemma r.lemma lj.lemma i.dependents j.dependents)
i.lemma j.upos (l.label r.label lj.label lj.lemma i.dependents)
i.upos j.lemma (l.label r.label lj.label lj.lemma j.dependents)
i.upos j.feats i.dependents
i.feats j.upos j.dependents
(i.upos i.lemma i.feats i.suffix) j.upos
i.upos (j.lemma j.feats j.suffix)
i.xpos j.xpos
i.form (j.form j.feats)
i.lemma j.lemma
i.feats (j.form j.feats)
(i.form j.form i.lemma j.lemma)
"""

_ATOM = re.compile(r"(distance|roots)|(i|j|k2|k|h|lj|l|r)([+-][12])?\.([a-z]+)")
_TERM = re.compile(r"\(([^()]*)\)|([^()\s]+)")
_SECTIONS = ("link", "label")
_OF_GRAPH = ("label", "dependents")
_MOST_ATOMS = 4  # of one conjunction


class FeatureModel(NamedTuple):
    """A feature set as the kernels want it.

    Atoms of the words come first, then labels, then dependents, then distance and roots, then one that is always 0.
    """

    addresses: NDArray[np.int64]  # of each atom but the last three: a number in ADDRESSES
    offsets: NDArray[np.int64]  # of each atom of a word
    attributes: NDArray[np.int64]
    n_labels: int
    seeds: NDArray[np.uint64]  # of every atom; odd
    links: NDArray[np.int64]  # the four atoms of each feature of a link
    labels: NDArray[np.int64]


@dataclass(frozen=True)
class FeatureSet:
    """A feature set, and the text it was read from."""

    text: str
    compiled: FeatureModel


def load_features(name: str) -> FeatureSet:
    """Our own set ("default"), or a file."""
    if name == "default":
        return parse_features(DEFAULT, "default")
    try:
        return parse_features(Path(name).read_text(encoding="utf-8"), name)
    except OSError:
        raise InputError("no such file, nor a feature set of ours (default)", Place(name)) from None


def parse_features(text: str, path: str = "<memory>") -> FeatureSet:
    """Read a feature set. Raises ``InputError`` with file and line for what cannot be understood.

    >>> len(parse_features("[link]\\n(i.upos j.upos) (i.upos j.upos)\\n[label]\\ni.upos j.upos").compiled.links)
    3
    """
    features: dict[str, set[tuple[str, ...]]] = {section: set() for section in _SECTIONS}
    section = ""
    for number, line in enumerate(text.splitlines(), 1):
        content = line.partition("#")[0].strip()
        place = Place(path, number)
        if content.startswith("["):
            section = content.strip("[]")
            if section not in _SECTIONS:
                raise InputError(f"unknown section {content}; there are {', '.join(_SECTIONS)}", place)
        elif content:
            if not section:
                raise InputError("a feature before the first section, such as [link]", place)
            features[section].update(_conjunctions(content, place))
    for section, found in features.items():
        if not found:
            raise InputError(f"no features for [{section}]", Place(path))
    return FeatureSet(text, _compile(sorted(features["link"]), sorted(features["label"])))


def _conjunctions(line: str, place: Place) -> Iterator[tuple[str, ...]]:
    """What a line stands for, each with its atoms in a fixed order."""
    if _TERM.sub("", line).strip():
        raise InputError("brackets that do not match", place)
    terms = [(inside or atom).split() for inside, atom in _TERM.findall(line)]
    for atom in (atom for term in terms for atom in term):
        _check_atom(atom, place)
    if len(terms) > _MOST_ATOMS:
        raise InputError(f"a conjunction of more than {_MOST_ATOMS} atoms", place)
    return (tuple(sorted(set(atoms))) for atoms in product(*terms))


def _check_atom(atom: str, place: Place) -> None:
    match = _ATOM.fullmatch(atom)
    if not match:
        raise InputError(f"{atom!r} is not an atom such as i.upos, j+1.form, k.upos, l.label or distance", place)
    if not match[1] and match[4] not in (*ATTRIBUTES, *_OF_GRAPH):
        raise InputError(f"{atom!r}: a word has the attributes {', '.join((*ATTRIBUTES, *_OF_GRAPH))}", place)
    if match[3] and match[4] in _OF_GRAPH:
        raise InputError(f"{atom!r}: what the graph says of a neighbour cannot be looked at", place)


def _compile(links: list[tuple[str, ...]], labels: list[tuple[str, ...]]) -> FeatureModel:
    named = sorted({atom for feature in (*links, *labels) for atom in feature} - {"distance", "roots"})
    labels_of, dependents_of = ([atom for atom in named if atom.endswith(f".{kind}")] for kind in _OF_GRAPH)
    of_words = [atom for atom in named if atom not in labels_of and atom not in dependents_of]
    of_words.sort(key=lambda atom: ADDRESSES.index(_parts(atom)[0]))
    atoms = [*of_words, *labels_of, *dependents_of, "distance", "roots", "nothing"]
    number = {atom: n for n, atom in enumerate(atoms)}

    def numbers(features: list[tuple[str, ...]]) -> NDArray[np.int64]:
        padding = ("nothing",) * _MOST_ATOMS
        rows = [[number[atom] for atom in (*feature, *padding)[:_MOST_ATOMS]] for feature in features]
        return np.array(rows, dtype=np.int64)

    return FeatureModel(
        np.array([ADDRESSES.index(_parts(atom)[0]) for atom in atoms[:-3]], dtype=np.int64),
        np.array([_parts(atom)[1] for atom in of_words], dtype=np.int64),
        np.array([ATTRIBUTES.index(_parts(atom)[2]) for atom in of_words], dtype=np.int64),
        len(labels_of),
        np.array([hash_string(f"atom {atom}") | 1 for atom in atoms], dtype=np.uint64),
        numbers(links),
        numbers(labels),
    )


def _parts(atom: str) -> tuple[str, int, str]:
    """Address, offset and attribute."""
    match = _ATOM.fullmatch(atom)
    assert match is not None
    return match[2], int(match[3] or 0), match[4]
