"""The language of feature sets: one for the parsers, the tagger and the segmenter; ``sets/`` has ours.

A line is a template: atoms such as ``h.form m.upos m+1.upos``, the form of the head, the tag of the modifier, and the
tag of the word after the modifier. The features of a part of a sentence are what the templates of its section find
there, each the conjunction of its atoms. Which sections there are, and which words each of them names, is the
``Schema`` of a system. Where there is only one word, it goes without a name: ``lower-1 suffix``.

================  ==================================================================================================
``[arc]``         the templates that follow are of this section
``h.upos (m.upos m.form)``
                  brackets stand for each of their atoms in turn, here for two templates; ``(a b) (a b)`` is a, b and
                  their pair, which is what a polynomial kernel of degree 2 makes of them
``include NAME``  all of another set: one of ours, or a file beside this one
``# ...``         a comment
================  ==================================================================================================
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from itertools import product
from math import prod
from pathlib import Path
from typing import NamedTuple

from crossarc.core import InputError, Place
from crossarc.features.attributes import ATTRIBUTES, PADDING

__all__ = ["MAX_SETS", "Atom", "FeatureSet", "Schema", "Section", "Template", "load_set", "parse_set"]

_WITHOUT_DISTANCE = " without distance"
_ATOM = re.compile(r"(?:([a-z]+[0-9]?)([+-][0-9])?\.)?([a-z]+[0-9]?)([+-][0-9])?")
_TERM = re.compile(r"\(([^()]*)\)|([^()\s]+)")
MAX_SETS = 2  # atoms with several values in one template
_MAX_TEMPLATES = 10_000  # of a line, and of a set; nobody wants more, and a model of somebody else shall not hang


class Section(NamedTuple):
    """What the templates of a section can be made of."""

    slots: tuple[str, ...] = ("",)  # the names of words; "" for the only one
    attributes: tuple[str, ...] = ATTRIBUTES  # of these words and their neighbours
    own_attributes: tuple[str, ...] = ()  # of these words alone, not of their neighbours
    set_attributes: tuple[str, ...] = ()  # of these words alone, with several values: a feature for each of them
    others: tuple[str, ...] = ()  # atoms that are of no word
    has_distance: bool = False  # templates are used with the distance of words too, but for "[... without distance]"
    max_atoms: int = 16


class Schema(NamedTuple):
    """What feature sets of a system look like."""

    folder: str  # of those that are ours, in ``sets/``
    sections: Mapping[str, Section]
    required: tuple[str, ...]  # sections that must not be empty
    switches: tuple[str, ...] = ()  # sections without templates: a line turns them on


class Atom(NamedTuple):
    """What a template looks at: an attribute of a word, or something that is of no word."""

    text: str
    slot: str
    offset: int
    attribute: str


class Template(NamedTuple):
    """The conjunction of some atoms."""

    text: str
    atoms: tuple[Atom, ...]
    with_distance: bool  # used once more together with the distance


@dataclass(frozen=True)
class FeatureSet:
    """A feature set, and its text with all that it includes: what a model file keeps."""

    schema: Schema
    text: str
    templates: dict[str, tuple[Template, ...]]  # by section, those with distance first
    switches: frozenset[str]


class _Line(NamedTuple):
    place: Place
    text: str

    @property
    def content(self) -> str:
        return " ".join(self.text.partition("#")[0].split())


def load_set(schema: Schema, name: str) -> FeatureSet:
    """A named set of ours, or a file; ``default+guide`` is two of them, one after the other."""
    names = [name] if Path(name).is_file() else name.split("+")
    return _parse(schema, [line for own in names for line in _read(schema, own, Path(), Place(own), ())], name)


def parse_set(schema: Schema, text: str, path: str = "<memory>") -> FeatureSet:
    """Read a feature set. Raises ``InputError`` with file and line for what cannot be understood.

    >>> schema = Schema("", {"arc": Section(("h", "m"))}, ("arc",))
    >>> [template.text for template in parse_set(schema, "[arc]\\nh.upos (m.upos m.form)  # tags").templates["arc"]]
    ['h.upos m.upos', 'h.upos m.form']
    """
    return _parse(schema, _numbered(text, path), path)


def _numbered(text: str, path: str) -> list[_Line]:
    return [_Line(Place(path, number), line) for number, line in enumerate(text.splitlines(), 1)]


def _read(schema: Schema, name: str, folder: Path, place: Place, including: tuple[str, ...]) -> Iterator[_Line]:
    """The lines of a set, and of those that it includes; ``place`` is where it is asked for."""
    path, text = _find(schema, name, folder, place)
    if path in including:
        raise InputError(f"{name} includes itself", place)
    for line in _numbered(text, path):
        if line.content.startswith("include "):
            included = line.content.removeprefix("include ")
            yield from _read(schema, included, Path(path).parent, line.place, (*including, path))
        else:
            yield line


def _find(schema: Schema, name: str, folder: Path, place: Place) -> tuple[str, str]:
    """Where a set is, and its text."""
    sets = resources.files("crossarc.features") / "sets" / schema.folder
    ours = sets / f"{name}.txt"
    if ours.is_file():
        return f"{name}.txt", ours.read_text(encoding="utf-8")
    try:
        return str(folder / name), (folder / name).read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise InputError("not valid UTF-8", Place(str(folder / name))) from None
    except (OSError, ValueError):  # a name cannot have a null byte
        names = ", ".join(sorted(path.name.removesuffix(".txt") for path in sets.iterdir()))
        included = f"{name}: " if place.line else ""
        raise InputError(f"{included}no such file, nor a feature set of ours ({names})", place) from None


def _parse(schema: Schema, lines: Sequence[_Line], path: str) -> FeatureSet:
    templates: dict[str, list[Template]] = {name: [] for name in schema.sections}
    switches: set[str] = set()
    section, with_distance = "", False
    for place, content in ((line.place, line.content) for line in lines):
        if content.startswith("include "):
            raise InputError("only a file can include another", place)
        if content.startswith("["):
            name = content.strip("[]")
            section = name.removesuffix(_WITHOUT_DISTANCE)
            if section in schema.switches:
                switches.add(section)
            elif section not in schema.sections:
                known = ", ".join([*schema.sections, *schema.switches])
                raise InputError(f"unknown section {content[:100]}; there are {known}", place)
            else:
                with_distance = schema.sections[section].has_distance and name == section
        elif content:
            if section not in schema.sections:
                raise InputError(f"a template before the first section, such as [{next(iter(schema.sections))}]", place)
            templates[section] += _expanded(schema.sections[section], section, content, with_distance, place)
            if sum(map(len, templates.values())) > _MAX_TEMPLATES:
                raise InputError(f"a set of more than {_MAX_TEMPLATES} templates", place)
    for name in schema.required:
        if not templates[name]:
            raise InputError(f"no templates for [{name}]", Place(path))
    return FeatureSet(
        schema,
        "\n".join(line.text for line in lines),
        {name: _distinct(own) for name, own in templates.items()},
        frozenset(switches),
    )


def _expanded(section: Section, name: str, line: str, with_distance: bool, place: Place) -> Iterator[Template]:
    """What a line stands for."""
    if _TERM.sub("", line).strip():
        raise InputError("brackets that do not match", place)
    terms = [(inside or atom).split() for inside, atom in _TERM.findall(line)]
    atoms = {text: _atom(section, name, text, place) for term in terms for text in term}
    if len(terms) > section.max_atoms:
        raise InputError(f"a conjunction of more than {section.max_atoms} atoms", place)
    if not all(terms):
        raise InputError("brackets with nothing in them", place)
    if prod(map(len, terms)) > _MAX_TEMPLATES:
        raise InputError(f"a line of more than {_MAX_TEMPLATES} templates", place)
    for chosen in map(dict.fromkeys, product(*terms)):
        if sum(atoms[text].attribute in section.set_attributes for text in chosen) > MAX_SETS:
            raise InputError(f"a conjunction of more than {MAX_SETS} atoms with several values", place)
        yield Template(" ".join(chosen), tuple(atoms[text] for text in chosen), with_distance)


def _atom(section: Section, name: str, text: str, place: Place) -> Atom:
    if text in section.others:
        return Atom(text, "", 0, text)
    match = _ATOM.fullmatch(text)
    offset = int(match[2] or match[4] or 0) if match else 0
    named = section.slots != ("",)
    if not match or abs(offset) > PADDING or (match[1] is not None) != named or (named and match[4]):
        raise InputError(f"{text!r} is not an atom such as {_example(section)}", place)
    slot, attribute = match[1] or "", match[3]
    if slot not in section.slots:
        raise InputError(f"{text!r}: [{name}] has the words {', '.join(section.slots)}", place)
    of_words = (*section.attributes, *section.own_attributes, *section.set_attributes)
    if attribute not in of_words:
        known = ", ".join(of_words)
        raise InputError(f"{text!r}: a word has the attributes {known}", place)
    if offset and attribute not in section.attributes:
        raise InputError(f"{text!r}: a neighbour has no {attribute}", place)
    return Atom(text, slot, offset, attribute)


def _example(section: Section) -> str:
    attribute, slot = section.attributes[0], section.slots[0]
    atoms = [f"{slot}.{attribute}", f"{slot}-1.{attribute}"] if slot else [attribute, f"{attribute}-1"]
    return ", ".join([*atoms, *section.others])


def _distinct(templates: Sequence[Template]) -> tuple[Template, ...]:
    """Each conjunction once, those with distance first."""
    found: dict[frozenset[Atom], Template] = {}
    for template in sorted(templates, key=lambda template: not template.with_distance):
        found.setdefault(frozenset(template.atoms), template)
    return tuple(found.values())
