"""Rules that a person writes down about all trees, or about those of one sentence: one on each line of a file.

::

    # lines like this one are ignored
    at most 1 nsubj,csubj per head          # each head has at most one child with one of these labels
    at most 1 obj per VERB,AUX              # said of heads with these tags only
    at least 1 nsubj per VERB
    at most 4 children per head
    at most 1 DET left of NOUN,PROPN        # children with this tag, to the left of heads with these
    at least 1 conj right of CCONJ
    det,case have no children
    PUNCT has no children                   # words with this tag
    punct crosses nothing
    conj agrees in upos                     # with its head; also in xpos, or in a feature such as Case
    at most 1 non-projective arcs
    at most 2 crossing arcs
    s17: words 3 and 7 share a head         # of the sentence whose sent_id is s17
    s17: arc 2 -> 5
    s17: arc 2 -> 5 obj
    s17: no arc 2 -> 5
    s17: at most 2 children of 4
    soft: at most 1 obj per head            # costs a tree 1 for each time it breaks the rule
    soft 2.5: det,case have no children

A label that ends in ``*`` stands for all labels that begin so. A name in capitals that is no label of the model is a
tag, in UPOS or XPOS. Rules are hard unless they are soft.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np

from crossarc.core import InputError, Place, Sentence
from crossarc.ilp import Arc, Arcs, Children, FewArcs, NoChildren, NoCrossing, Rule, SameHead

__all__ = ["RuleFile", "RuleLine", "read_rules"]

_NAMES = r"(?P<names>[^\s,]+(?:,[^\s,]+)*)"
_OF_HEADS = r"(?:per|(?P<side>left|right) of) (?P<per>\S+)"
_SOFT = re.compile(r"soft(?: (?P<weight>\d+(?:\.\d+)?))?: (?P<rule>.+)")
_SENTENCE = re.compile(r"(?P<sentence>\S+): (?P<rule>.+)")


@dataclass(frozen=True)
class RuleLine:
    """A line of a file of rules, understood as far as that goes without a sentence and the labels of a model."""

    text: str
    place: Place
    weight: float
    sent_id: str | None  # None: of all sentences
    kind: Callable[[_Words], Rule]
    match: re.Match[str]


@dataclass(frozen=True)
class _Words:
    """What a line is to be understood by."""

    line: RuleLine
    sentence: Sentence
    labels: Sequence[str]

    def given(self, name: str) -> str:
        return self.line.match[name]

    @property
    def names(self) -> list[str]:
        return self.given("names").split(",")

    @property
    def names_tags(self) -> bool:
        """Whether the names are those of tags: in capitals, and no labels."""
        return all(name.isupper() and name not in self.labels for name in self.names)

    def numbers(self) -> frozenset[int] | None:
        """The labels that are named; None if these are all ("children")."""
        if self.names == ["children"]:
            return None
        return frozenset(number for name in self.names for number in self._numbers(name))

    def _numbers(self, name: str) -> list[int]:
        found = [i for i, label in enumerate(self.labels) if _fits(label, name)]
        if not found:
            raise InputError(f"the model has no label {name!r}", self.line.place)
        return found

    def word(self, name: str, *, root: bool = False) -> int:
        number = int(self.given(name))
        if number > len(self.sentence) or (number == 0 and not root):
            raise InputError(f"there is no word {number} in a sentence of {len(self.sentence)}", self.line.place)
        return number

    def heads(self) -> frozenset[int] | None:
        """The heads that a rule is about: words with these tags; None for all."""
        return None if self.given("per") == "head" else self.tagged(self.given("per").split(","))

    def tagged(self, tags: list[str]) -> frozenset[int]:
        """The words with one of these tags."""
        words = enumerate(zip(self.sentence.upos, self.sentence.xpos, strict=True), 1)
        return frozenset(i for i, (upos, xpos) in words if upos in tags or xpos in tags)

    def children(self, *, least: int = 0, most: int | None = None) -> Rule:
        """A rule about numbers of children, with these labels or tags, on one side or both."""
        side: Any = self.given("side")
        if self.names_tags:
            return Children(least, most, None, self.heads(), self.tagged(self.names), side)
        return Children(least, most, self.numbers(), self.heads(), None, side)


def _fits(label: str, name: str) -> bool:
    return label.startswith(name[:-1]) if name.endswith("*") else label == name


def _at_most(words: _Words) -> Rule:
    return words.children(most=int(words.given("n")))


def _at_least(words: _Words) -> Rule:
    return words.children(least=int(words.given("n")))


def _most_of_one(words: _Words) -> Rule:
    head = frozenset([words.word("head", root=True)])
    return Children(most=int(words.given("n")), labels=words.numbers(), heads=head)


def _no_children(words: _Words) -> Rule:
    if words.names_tags:
        return Children(most=0, heads=words.tagged(words.names))
    labels = words.numbers()
    assert labels is not None
    return NoChildren(labels)


def _crosses_nothing(words: _Words) -> Rule:
    return NoCrossing(words.numbers())


def _agrees(words: _Words) -> Rule:
    values = np.array(["", *_values(words.sentence, words.given("column"))])
    known = values != ""
    differs = (values[:, np.newaxis] != values) & known[:, np.newaxis] & known
    return Arcs(words.numbers(), differs)


def _values(sentence: Sentence, column: str) -> Iterable[str]:
    """What each word has in a column or as a feature; nothing where it has none."""
    if column in ("upos", "xpos"):
        return (value if value != "_" else "" for value in getattr(sentence, column))
    features = (dict(item.partition("=")[::2] for item in feats.split("|")) for feats in sentence.feats)
    return (of_word.get(column, "") for of_word in features)


def _few_nonprojective(words: _Words) -> Rule:
    return FewArcs(int(words.given("n")))


def _few_crossing(words: _Words) -> Rule:
    return FewArcs(int(words.given("n")), crossing=True)


def _same_head(words: _Words) -> Rule:
    return SameHead((words.word("first"), words.word("second")))


def _arc(words: _Words) -> Rule:
    head, modifier = words.word("head", root=True), words.word("modifier")
    if head == modifier:
        raise InputError(f"word {head} cannot be its own head", words.line.place)
    labels = words.numbers() if words.given("names") else None
    return Arc(head, modifier, labels, words.given("no") is None)


_OF_ALL: dict[str, Callable[[_Words], Rule]] = {
    r"at most (?P<n>\d+) non-projective arcs?": _few_nonprojective,
    r"at most (?P<n>\d+) crossing arcs?": _few_crossing,
    rf"at most (?P<n>\d+) {_NAMES} {_OF_HEADS}": _at_most,
    rf"at least (?P<n>\d+) {_NAMES} {_OF_HEADS}": _at_least,
    rf"{_NAMES} (?:has|have) no children": _no_children,
    rf"{_NAMES} cross(?:es)? nothing": _crosses_nothing,
    rf"{_NAMES} agrees? in (?P<column>\S+)": _agrees,
}
_OF_ONE: dict[str, Callable[[_Words], Rule]] = {
    r"words (?P<first>\d+) and (?P<second>\d+) share a head": _same_head,
    rf"(?P<no>no )?arc (?P<head>\d+) -> (?P<modifier>\d+)(?: {_NAMES})?": _arc,
    rf"at most (?P<n>\d+) {_NAMES} of (?P<head>\d+)": _most_of_one,
}


class RuleFile:
    """The rules of a file; they are understood again where the object is sent to another process."""

    def __init__(self, text: str, path: str) -> None:
        self.text, self.path = text, path
        contents = (" ".join(re.sub(r"(^|\s)#.*", "", line).split()) for line in text.splitlines())
        self.lines = [_understood(rule, Place(path, number)) for number, rule in enumerate(contents, 1) if rule]
        self._seen: set[tuple[str, str]] = set()  # (kind, name) of what ``look_at`` was shown

    def __reduce__(self) -> tuple[type[RuleFile], tuple[str, str]]:
        return RuleFile, (self.text, self.path)

    def look_at(self, text: str) -> None:
        """Take note of the names that parsed sentences have, in CoNLL-U, for ``without_effect``."""
        for line in text.splitlines():
            if line.startswith("# sent_id = "):
                self._seen.add(("sent_id", line.removeprefix("# sent_id = ").strip()))
            columns = line.split("\t")
            if len(columns) >= 8:
                self._seen |= {("tag", columns[3]), ("tag", columns[4]), ("label", columns[7])}
                self._seen |= {("feature", item.partition("=")[0]) for item in columns[5].split("|")}

    def without_effect(self) -> list[str]:
        """Warnings about lines that name a tag, a feature or a sent_id that no sentence has had."""
        return [
            f"{line.place}: no {what} {name!r}: the rule has no effect: {line.text}"
            for line in self.lines
            for kind, what, name in _named(line)
            if (kind, name) not in self._seen and not (what == "word has the tag" and ("label", name) in self._seen)
        ]

    def rules_for(self, sentence: Sentence, labels: Sequence[str]) -> list[Rule]:
        """The rules for a sentence. Raises ``InputError`` for labels and words that are not there."""
        return [
            replace(line.kind(_Words(line, sentence, labels)), name=f"{line.place}: {line.text}", weight=line.weight)
            for line in self.lines
            if line.sent_id in (None, sentence.sent_id)
        ]


def _named(line: RuleLine) -> Iterator[tuple[str, str, str]]:
    """What must be in some sentence for a rule to have an effect: its kind, what to say, its name."""
    given = line.match.groupdict()
    if line.sent_id is not None:
        yield "sent_id", "sentence has the sent_id", line.sent_id
    tags = [] if given.get("per") in (None, "head") else given["per"].split(",")
    tags += [name for name in (given.get("names") or "").split(",") if name.isupper()]
    yield from (("tag", "word has the tag", tag) for tag in tags)
    if given.get("column") not in (None, "upos", "xpos"):
        yield "feature", "word has the feature", given["column"]


def read_rules(path: str) -> RuleFile:
    """Read a file of rules, or those of ours with that name. Raises ``InputError`` that names file and line.

    >>> read_rules("riedel-clarke-2006").lines[0].text
    'at most 1 nsubj,nsubj:pass,csubj per head'
    """
    ours = resources.files("crossarc.ilp") / "rule_sets" / f"{Path(path).name}.txt"
    try:
        if not Path(path).exists() and Path(path).name == path and ours.is_file():
            return RuleFile(ours.read_text(encoding="utf-8"), path)
        return RuleFile(Path(path).read_text(encoding="utf-8-sig"), path)
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "not a text in UTF-8"
        raise InputError((reason or "cannot be read").lower(), Place(path)) from None


def _understood(text: str, place: Place) -> RuleLine:
    weight, sent_id, rule, kinds = np.inf, None, text, _OF_ALL
    if soft := _SOFT.fullmatch(rule):
        weight, rule = float(soft["weight"] or 1.0), soft["rule"]
    if of_one := _SENTENCE.fullmatch(rule):
        sent_id, rule, kinds = of_one["sentence"], of_one["rule"], _OF_ONE | _OF_ALL
    for pattern, kind in kinds.items():
        if match := re.fullmatch(pattern, rule):
            return RuleLine(text, place, weight, sent_id, kind, match)
    raise InputError(f"not a rule, such as 'at most 1 nsubj per head': {text[:100]}", place)
