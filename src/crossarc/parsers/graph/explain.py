"""Why the parser likes an arc of a graph: what each template adds to its score."""

from __future__ import annotations

import numpy as np

from crossarc.core import Constraints, Sentence
from crossarc.features._hashing import sentence_attributes
from crossarc.features.attributes import attributes_of
from crossarc.features.explain import Reason, by_template, sorted_reasons
from crossarc.parsers.graph._path import basic_tree, max_path_features, path_features
from crossarc.parsers.graph.parser import GraphParser
from crossarc.parsers.linear.explain import ArcReasons
from crossarc.scorers.linear._features import sibling_indices

__all__ = ["explain"]


def explain(parser: GraphParser, sentence: Sentence, head: int, modifier: int) -> list[Reason]:
    """What speaks for (largest first) and against the arc from head to modifier, in the graph that the sentence has.

    An arc that is not in the tree is explained as an extra one: by features of the arc, and by where its words stand in
    the basic tree. Siblings are given if the arc is in the graph.
    """
    scorer = parser.tree.scorer
    tree = ArcReasons(scorer.heads_model, scorer.templates.features, sentence)
    if sentence.heads[modifier] == head:
        reasons = tree.of_arc(head, modifier)
    else:
        extra = ArcReasons(parser.extras_model, scorer.templates.features, sentence)
        reasons = [*extra.of_arc(head, modifier), *_by_path(parser, extra, sentence, head, modifier)]
    children = _children(sentence, head)
    if modifier in children:
        low, high = min(head, modifier), max(head, modifier)
        between = [child for child in children if low < child < high]
        inner = head if not between else max(between) if head < modifier else min(between)
        reasons += tree.of_part("sibling", sibling_indices, head, inner, modifier)
    return sorted_reasons(reasons)


def _children(sentence: Sentence, head: int) -> set[int]:
    """The words with an arc from ``head``, in the tree or in DEPS."""
    start = f"{head}:"
    in_graph = {m for m, deps in enumerate(sentence.deps, 1) if any(arc.startswith(start) for arc in deps.split("|"))}
    return in_graph | {m for m, own in enumerate(sentence.heads.tolist()) if own == head}


def _by_path(parser: GraphParser, extra: ArcReasons, sentence: Sentence, head: int, modifier: int) -> list[Reason]:
    """By the basic tree, which the search for graphs starts from; it may have changed it since."""
    batch, templates = attributes_of([sentence]), parser.models.path
    tree = parser.tree.best_trees(batch, Constraints())
    hashes = np.empty(max_path_features(templates), dtype=np.uint64)
    with np.errstate(over="ignore"):  # as hashes do
        basic = basic_tree(sentence_attributes(batch, 0).words, templates, *tree)
        count = path_features(basic, templates, head, modifier, hashes)
    weights = extra.weights[(hashes[:count] >> extra.shift).astype(np.int64)]
    lines = parser.features.templates["path"]
    reasons = by_template("path", lines, weights[: len(lines)])
    if count > len(lines):
        total = float(weights[len(lines) :].sum())
        reasons.append(Reason("path", "the path with the label of each child of the head", total))
    return reasons
