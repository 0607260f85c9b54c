"""Trees as graphs of networkx, for its algorithms and its drawings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crossarc.core import CrossarcError, Sentence
from crossarc.integrations._library import library

if TYPE_CHECKING:
    from networkx import DiGraph

__all__ = ["graph_of", "sentence_of"]

_OF_WORDS = ("form", "lemma", "upos", "xpos", "feats", "deps", "misc")


def graph_of(sentence: Sentence) -> DiGraph[int]:
    """An edge from each head to its word, with ``deprel`` and, if it is known, ``probability``.

    Nodes are 0 (the root) to n; words have their columns as attributes, the graph has the comments. A tree is an
    arborescence of networkx, whose root is 0.

    >>> s = Sentence.of(["She", "left"]).with_tree([-1, 2, 0], ["_", "nsubj", "root"])
    >>> list(graph_of(s).edges(data="deprel"))
    [(0, 2, 'root'), (2, 1, 'nsubj')]
    """
    graph = library("networkx").DiGraph(comments=list(sentence.comments))
    graph.add_node(0, form="ROOT")
    for word in sentence:
        row = word.row
        graph.add_node(word.id, **{name: getattr(row, name) for name in _OF_WORDS})
    for word, head in zip(sentence, sentence.heads[1:].tolist(), strict=True):
        if head >= 0:
            known = {} if word.probability is None else {"probability": word.probability}
            graph.add_edge(head, word.id, deprel=word.deprel, **known)
    return graph


def sentence_of(graph: DiGraph[int]) -> Sentence:
    """The sentence of a graph with the nodes 1 to n, and perhaps 0.

    Attributes that are missing are unknown. Raises ``CrossarcError`` for other nodes, and for a word with two heads.
    """
    n = len(graph) - (0 in graph)
    if set(graph) - {0} != set(range(1, n + 1)):
        raise CrossarcError(f"the nodes of a graph must be words, numbered from 1 to {n}")
    words = range(1, n + 1)
    columns = {name: [str(graph.nodes[word].get(name, "_")) for word in words] for name in _OF_WORDS}
    heads, labels = [-1] * (n + 1), ["_"] * (n + 1)
    for head, word, label in graph.edges(data="deprel", default="_"):
        if heads[word] >= 0:
            raise CrossarcError(f"word {word} of a graph has two heads, {heads[word]} and {head}")
        heads[word], labels[word] = head, label
    sentence = Sentence.of(columns.pop("form"), **columns).with_tree(heads, labels)
    return Sentence(sentence.columns, tuple(graph.graph.get("comments", ())))
