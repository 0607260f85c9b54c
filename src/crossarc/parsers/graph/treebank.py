"""What can be learnt of the graphs of a treebank (DEPS)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from crossarc.core import InputError, Sentence
from crossarc.evaluation.deps import arcs_of_deps
from crossarc.io.problems import graph_problems
from crossarc.parsers.training import TrainingListener

__all__ = ["GoldGraph", "gold_graph", "gold_graphs"]


class GoldGraph(NamedTuple):
    """The extra arcs of a sentence that can be learnt, and how many arcs cannot."""

    extra: dict[tuple[int, int], str]  # head and modifier: label
    to_empty_nodes: int
    in_cycles: int
    relabelled: int
    not_in_deps: int


def gold_graphs(treebank: Sequence[Sentence], listener: TrainingListener) -> list[GoldGraph]:
    """The graphs of all sentences; the listener is told what they leave out of DEPS."""
    graphs = list(map(gold_graph, treebank))
    for count, how in (
        (sum(g.to_empty_nodes for g in graphs), "of DEPS go from or to empty nodes: not learnt"),
        (sum(g.in_cycles for g in graphs), "of DEPS would close a cycle: not learnt"),
        (sum(g.relabelled for g in graphs), "of trees have another label in DEPS: that of DEPREL is learnt"),
        (sum(g.not_in_deps for g in graphs), "of trees are not in DEPS: learnt all the same"),
    ):
        if count:
            listener.arcs_left_out(count, how)
    return graphs


def gold_graph(sentence: Sentence) -> GoldGraph:
    """What can be learnt of DEPS: acyclic, between words, beside the tree.

    Arcs are added to the tree in the order of the file, unless they close a cycle.
    """
    for problem in graph_problems(sentence):
        raise InputError(problem.message, sentence.place(problem.word))
    names: dict[tuple[int, int], list[str]] = {}
    heads_of = {m: {int(head)} for m, head in enumerate(sentence.head, 1)}
    to_empty_nodes = in_cycles = relabelled = not_in_deps = 0
    for m, (head, deprel, deps) in enumerate(zip(sentence.head, sentence.deprel, sentence.deps, strict=True), 1):
        arcs = list(arcs_of_deps(deps))
        not_in_deps += bool(arcs) and all(h != head for h, _ in arcs)
        for h, label in arcs:
            if h == head:
                relabelled += label != deprel
            elif "." in h:
                to_empty_nodes += 1
            elif _descends(int(h), m, heads_of):
                in_cycles += 1
            else:
                heads_of[m].add(int(h))
                names.setdefault((int(h), m), []).append(label)
    to_empty_nodes += sum(len(list(arcs_of_deps(i.row.deps))) for i in sentence.inserts if i.is_empty_node)
    extra = {arc: "|".join(labels) for arc, labels in names.items()}
    return GoldGraph(extra, to_empty_nodes, in_cycles, relabelled, not_in_deps)


def _descends(word: int, ancestor: int, heads_of: dict[int, set[int]]) -> bool:
    """Whether there is a way from the ancestor down to the word."""
    above, waiting = {word}, [word]
    while waiting:
        new = heads_of.get(waiting.pop(), set()) - above
        above |= new
        waiting += new
    return ancestor in above
