"""Why a parser likes an arc: what each template adds to its score."""

from __future__ import annotations

from crossarc.core import Sentence
from crossarc.features.explain import Reason, sorted_reasons
from crossarc.parsers.linear.explain import ArcReasons
from crossarc.parsers.spanning_tree.parser import SpanningTreeParser

__all__ = ["explain"]


def explain(parser: SpanningTreeParser, sentence: Sentence, head: int, modifier: int) -> list[Reason]:
    """What speaks for (largest first) and against the arc from head to modifier, in the tree that the sentence has.

    The weights of all reasons of part "arc", "between" and "pairs" sum to the arc's first-order score
    (``parser.scores``); other parts depend on the rest of the tree and are given if the arc is in it.
    """
    arcs = ArcReasons(parser.scorer.heads_model, parser.scorer.templates.features, sentence)
    in_tree = sentence.heads[modifier] == head
    return sorted_reasons([*arcs.of_arc(head, modifier), *(arcs.of_tree(modifier) if in_tree else ())])
