"""Trees as the ``DependencyGraph`` of NLTK, which also has words without a head, and arcs that cross."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from crossarc.core import CrossarcError, Sentence
from crossarc.core.word import Word
from crossarc.integrations._library import library

if TYPE_CHECKING:
    from nltk.parse import DependencyGraph

__all__ = ["graph_of", "sentence_of"]

_COLUMNS = {"word": "form", "lemma": "lemma", "ctag": "upos", "tag": "xpos", "feats": "feats", "rel": "deprel"}


def graph_of(sentence: Sentence) -> DependencyGraph:
    """NLTK's graph: UPOS is its ``ctag``, XPOS its ``tag``; comments, DEPS and MISC have no place there.

    >>> s = Sentence.of(["She", "left"], upos=["PRON", "VERB"]).with_tree([-1, 2, 0], ["_", "nsubj", "root"])
    >>> list(graph_of(s).triples())
    [(('left', 'VERB'), 'nsubj', ('She', 'PRON'))]
    """
    graph = library("nltk.parse").DependencyGraph()
    heads = sentence.heads.tolist()
    for word in sentence:
        graph.add_node(_node(word, heads[word.id]))
    for word in sentence:
        if heads[word.id] >= 0:
            graph.nodes[heads[word.id]]["deps"][word.deprel].append(word.id)
    if sentence.roots:
        graph.root = graph.nodes[sentence.root.id]
        graph.top_relation_label = sentence.root.deprel
    return graph


def _node(word: Word, head: int) -> dict[str, Any]:
    row = word.row
    return {
        "address": word.id,
        **{name: getattr(row, column) for name, column in _COLUMNS.items()},
        "head": None if head < 0 else head,
    }


def sentence_of(graph: DependencyGraph) -> Sentence:
    """The sentence of a graph. Raises ``CrossarcError`` if its nodes are not numbered from 1 on."""
    n = len(graph.nodes) - 1
    if set(graph.nodes) != set(range(n + 1)):
        raise CrossarcError(f"the nodes of a graph must be words, numbered from 1 to {n}")
    nodes = [graph.nodes[address] for address in range(1, n + 1)]
    columns = {column: [str(node[name] or "_") for node in nodes] for name, column in _COLUMNS.items()}
    head = ["_" if node["head"] is None else str(node["head"]) for node in nodes]
    return Sentence.of(columns.pop("form"), **columns, head=head)
