"""SDP, the format of semantic dependency graphs (SemEval 2014 Task 8, SemEval 2015 Task 18).

Columns are id, form, lemma, tag, top (+ or -), predicate (+ or -), frame (since 2015), and one for each predicate of
the sentence, in their order: the label by which the word is its argument. A word may have no head, and there may be
several tops, or none.

In a ``Sentence``, the graph is in DEPS, a top has the head 0, and there is no tree. MISC keeps ``Frame=``, and
``Pred=Yes`` of predicates without arguments, so that SDP survives a way through CoNLL-U. Written is the form of 2015,
below the line ``#SDP 2015``. The other way loses what SDP has no place for; ``lost_in_sdp`` counts it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from crossarc.core import InputError, Place, Sentence
from crossarc.core.sentence import word_ids
from crossarc.io.blocks import Block
from crossarc.io.conllx import escaped, misc_value
from crossarc.io.problems import LineProblem, shown

__all__ = ["HEADER", "format_sentence", "lost_in_sdp", "parse_block", "sdp_problems"]

HEADER = "#SDP 2015\n"

_FIXED = 6  # columns before frame and arguments
_TOP, _PREDICATE = 4, 5
_VERSION = re.compile(r"#SDP [0-9]+")
_NAME = re.compile(r"#(\S+)")
_SENT_ID = re.compile(r"# *sent_id *= *(\S+)")
_FRAME, _PREDICATE_KEY = "Frame=", "Pred="

Row = list[str]
Arcs = dict[int, str]  # the label of each head; 0 for a top


def parse_block(block: Block) -> Sentence:
    """The sentence of a block. Raises ``InputError`` for the first thing that breaks the format."""
    lines = block.text().split("\n")
    comments = [line for line in lines if line.startswith("#") and "\t" not in line]
    rows = [line.split("\t") for line in lines[len(comments) :]]
    names = [f"# sent_id = {name[1]}" if (name := _NAME.fullmatch(line)) else line for line in comments]
    kept = tuple(name for name in names if not _VERSION.fullmatch(name))
    for line, message in sdp_problems(lines):
        sent_id = next((match[1] for name in kept if (match := _SENT_ID.fullmatch(name))), None)
        raise InputError(message, Place(block.path, block.line + line, sent_id))
    return _sentence(rows, kept, block.path, block.line + len(comments) - len(kept))


def _sentence(rows: Sequence[Row], comments: tuple[str, ...], path: str, line: int) -> Sentence:
    predicates = [number for number, row in enumerate(rows, 1) if row[_PREDICATE] == "+"]
    first_argument = len(rows[0]) - len(predicates)
    deps: list[str] = []
    used: set[int] = set()
    for row in rows:
        arcs = {head: label for head, label in zip(predicates, row[first_argument:], strict=True) if label != "_"}
        used |= arcs.keys()
        tops = ["0:root"] if row[_TOP] == "+" else []
        deps.append("|".join([*tops, *(f"{head}:{label}" for head, label in arcs.items())]) or "_")
    misc = []
    for number, row in enumerate(rows, 1):
        frame = row[_FIXED] if first_argument > _FIXED else "_"
        notes = [f"{_FRAME}{escaped(frame)}"] if frame != "_" else []
        notes += [f"{_PREDICATE_KEY}Yes"] if row[_PREDICATE] == "+" and number not in used else []
        misc.append("|".join(notes) or "_")
    form, lemma, tag = zip(*(row[1:_TOP] for row in rows), strict=True)
    nothing = ("_",) * len(rows)
    columns = (form, lemma, nothing, tag, nothing, nothing, nothing, tuple(deps), tuple(misc))
    return Sentence(columns, comments, path=path, line=line)


def sdp_problems(lines: Sequence[str]) -> Iterator[LineProblem]:
    """Everything that keeps the lines of a sentence from being a graph."""
    rows = [(number, line.split("\t")) for number, line in enumerate(lines) if "\t" in line or not line.startswith("#")]
    predicates = sum(row[_PREDICATE] == "+" for _, row in rows if len(row) > _PREDICATE)
    # those of the first row; a row with another number is the one that is wrong
    frames = bool(rows) and len(rows[0][1]) == _FIXED + predicates + 1
    expected = _FIXED + predicates + frames
    if not rows:
        yield LineProblem(max(len(lines) - 1, 0), "a sentence without words")
    of_words = {number for number, _ in rows}
    for number in set(range(rows[0][0], len(lines))) - of_words if rows else ():
        yield LineProblem(number, "a comment after the first word")
    for word, (number, row) in enumerate(rows, 1):
        if len(row) != expected:
            columns = f"{_FIXED}, a frame perhaps, and one for each of {predicates} predicates"
            yield LineProblem(number, f"{len(row)} {'column' if len(row) == 1 else 'columns'} instead of {columns}")
            continue
        yield from (LineProblem(number, message) for message in _row_problems(word, row, expected - predicates))


def _row_problems(word: int, row: Row, first_argument: int) -> Iterator[str]:
    if row[0] != str(word):
        yield f"ID {shown(row[0])}: {word} expected"
    if "" in row:
        yield f"column {row.index('') + 1} is empty"
    for name, column in (("top", _TOP), ("predicate", _PREDICATE)):
        if row[column] not in ("+", "-"):
            yield f"{name} is {shown(row[column])}, not + or -"
    for label in row[first_argument:]:
        if "|" in label:
            yield f"label {shown(label)}: a bar would part arcs in DEPS"


def format_sentence(sentence: Sentence) -> str:
    """The lines of the sentence and the blank line after them."""
    graph = [_arcs(deps) for deps in sentence.deps]
    heads = {head for arcs in graph for head in arcs}
    marked = {w for w, misc in enumerate(sentence.misc, 1) if misc_value(misc, _PREDICATE_KEY) == "Yes"}
    predicates = sorted((heads | marked) - {0})
    chosen = set(predicates)
    lines = [f"#{name[1]}" if (name := _SENT_ID.fullmatch(line)) else line for line in sentence.comments]
    columns = zip(word_ids(len(sentence)), sentence.form, sentence.lemma, sentence.xpos, sentence.misc, strict=True)
    for word, (arcs, (*fixed, misc)) in enumerate(zip(graph, columns, strict=True), 1):
        signs = ["+" if condition else "-" for condition in (0 in arcs, word in chosen)]
        arguments = [arcs.get(predicate, "_") for predicate in predicates]
        lines.append("\t".join([*fixed, *signs, misc_value(misc, _FRAME), *arguments]))
    return "\n".join([*lines, "", ""])


def _arcs(deps: str) -> Arcs:
    """Heads and labels in DEPS, without empty nodes; of several labels of a head the first."""
    arcs: Arcs = {}
    for item in deps.split("|") if deps != "_" else ():
        head, _, label = item.partition(":")
        if head.isdecimal():
            arcs.setdefault(int(head), label or "_")
    return arcs


def lost_in_sdp(sentence: Sentence) -> Counter[str]:
    """How much of each kind of annotation SDP cannot hold."""
    items = [item for deps in sentence.deps if deps != "_" for item in deps.split("|")]
    others = (item for misc in sentence.misc if misc != "_" for item in misc.split("|"))
    return Counter(
        {
            "multiword tokens": sum(not insert.is_empty_node for insert in sentence.inserts),
            "empty nodes": sum(insert.is_empty_node for insert in sentence.inserts),
            "values of UPOS": sum(upos != "_" for upos in sentence.upos),
            "values of FEATS": sum(feats != "_" for feats in sentence.feats),
            "arcs of trees": sum(head != "_" for head in sentence.head),
            "arcs of DEPS": len(items) - sum(len(_arcs(deps)) for deps in sentence.deps),
            "values of MISC": sum(not item.startswith((_FRAME, f"{_PREDICATE_KEY}Yes")) for item in others),
        }
    )
