"""Disturbed copies of a treebank: what a bad parser would make of it."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator
from dataclasses import replace

from crossarc.core import Insert, Row, Sentence
from crossarc.io.problems import find_cycle


def disturbed(sentences: Iterable[Sentence], seed: int, rate: float = 0.2) -> Iterator[Sentence]:
    """Heads, labels, tags, features and lemmas changed at random; still trees with as many roots as before."""
    rng = random.Random(seed)
    for sentence in sentences:
        columns = {
            name: [rng.choice(column) if rng.random() < rate else value for value in column]
            for name in ("lemma", "upos", "xpos", "feats", "deprel")
            for column in [getattr(sentence, name)]
        }
        heads = sentence.heads.tolist()
        for word in range(1, len(heads)):
            if rng.random() < rate and heads[word] != 0:
                old, heads[word] = heads[word], rng.randrange(1, len(heads))
                if find_cycle(heads):
                    heads[word] = old
        yield sentence.with_tree(heads).with_columns(**columns)


def resegmented(sentences: Iterable[Sentence], seed: int) -> Iterator[Sentence]:
    """The same characters in other sentences, words and multiword tokens."""
    rng = random.Random(seed)
    waiting: Sentence | None = None
    for sentence in sentences:
        changed = _with_other_multiword_tokens(_with_a_split_word(sentence, rng), rng)
        if waiting is not None:
            yield _joined(waiting, changed)
            waiting = None
        elif rng.random() < 0.3:
            waiting = changed
        else:
            yield changed
    if waiting is not None:
        yield waiting


def _with_a_split_word(sentence: Sentence, rng: random.Random) -> Sentence:
    """One word cut in two, the second part a dependent of the first."""
    covered = {word for insert in sentence.inserts if not insert.is_empty_node for word in insert.span}
    words = [w for w in range(1, len(sentence) + 1) if len(sentence.form[w - 1]) > 1 and w not in covered]
    if sentence.inserts or not words or rng.random() < 0.5:
        return sentence
    at = rng.choice(words)
    form = sentence.form[at - 1]
    cut = rng.randrange(1, len(form))
    columns = {name: list(column) for name, column in zip(Row._fields[1:], sentence.columns, strict=True)}
    heads = [h + (h > at) for h in sentence.heads[1:].tolist()]
    for name, column in columns.items():
        column.insert(at, column[at - 1])
        if name == "form":
            column[at - 1 : at + 1] = [form[:cut], form[cut:]]
        if name == "deps":
            column[:] = ["_"] * len(column)
    heads.insert(at, at)
    columns["head"] = [str(h) for h in heads]
    return Sentence(tuple(map(tuple, columns.values())), sentence.comments)


def _with_other_multiword_tokens(sentence: Sentence, rng: random.Random) -> Sentence:
    """Without multiword tokens: two neighbours become one. With some: their words' forms change now and then."""
    if not sentence.inserts and len(sentence) > 2 and rng.random() < 0.4:
        first = rng.randrange(1, len(sentence))
        surface = sentence.form[first - 1] + sentence.form[first]
        row = Row(f"{first}-{first + 1}", surface, *["_"] * 8)
        return replace(sentence, inserts=(Insert(first - 1, row),))
    form = list(sentence.form)
    for insert in sentence.inserts:
        if not insert.is_empty_node and rng.random() < 0.3:
            form[rng.choice(insert.span) - 1] = rng.choice(["x", form[insert.span[0] - 1].upper()])
    return sentence.with_columns(form=form)


def _joined(first: Sentence, second: Sentence) -> Sentence:
    """Two sentences as one: the second's root depends on the first word that is a root in the first."""
    n = len(first)
    root = first.head.index("0") + 1
    heads = first.heads[1:].tolist() + [h + n if h else root for h in second.heads[1:].tolist()]
    columns = [a + b for a, b in zip(first.columns, second.columns, strict=True)]
    inserts = [insert for insert in first.inserts if not insert.is_empty_node]
    for insert in second.inserts:
        if not insert.is_empty_node:
            id_ = f"{insert.span[0] + n}-{insert.span[-1] + n}"
            inserts.append(Insert(insert.after + n, insert.row._replace(id=id_)))
    joined = Sentence(tuple(columns), inserts=tuple(inserts))
    return joined.with_columns(head=[str(h) for h in heads], deps=["_"] * len(heads))


def disturbed_graphs(sentences: Iterable[Sentence], seed: int, rate: float = 0.2) -> Iterator[Sentence]:
    """Graphs with arcs changed at random: gone, with another head or label, doubled under a subtype, new ones."""
    rng = random.Random(seed)
    for sentence in sentences:
        nodes = ["0", *(str(word) for word in range(1, len(sentence) + 1))]
        deps = [_disturbed_deps(own, nodes, sentence.deprel, rng, rate) for own in sentence.deps]
        yield sentence.with_columns(deps=deps)


def _disturbed_deps(deps: str, nodes: list[str], labels: tuple[str, ...], rng: random.Random, rate: float) -> str:
    arcs: list[tuple[str, str]] = []
    for item in deps.split("|") if deps != "_" else []:
        head, _, label = item.partition(":")
        changes = [(rng.choice(nodes), label), (head, rng.choice(labels)), (head, f"{label}:new"), (head, label)]
        if rng.random() > rate / 4:
            arcs.append(rng.choice(changes) if rng.random() < rate else (head, label))
        if rng.random() < rate:
            arcs.append(rng.choice(changes))
    return "|".join(f"{head}:{label}" for head, label in arcs) or "_"
