"""Why the parser likes an arc: what each template adds to its score."""

from __future__ import annotations

from crossarc.core import Sentence
from crossarc.features.explain import Reason, sorted_reasons
from crossarc.parsers.ilp.parser import IlpParser
from crossarc.parsers.linear.explain import ArcReasons
from crossarc.parsers.linear.integer_program import MARKS
from crossarc.search._candidate_tree import neighbours
from crossarc.trees import crossing_arcs, nonprojective_arcs

__all__ = ["explain"]


def explain(parser: IlpParser, sentence: Sentence, head: int, modifier: int) -> list[Reason]:
    """What speaks for (largest first) and against the arc from head to modifier, in the tree that the sentence has.

    Parts that depend on the rest of the tree are given if the arc is in it; those of an arc that crosses others, or is
    not projective, have the same templates as the arc.
    """
    scorer = parser.linear.scorer
    arcs = ArcReasons(scorer.heads_model, scorer.templates.features, sentence)
    reasons, kinds = arcs.of_arc(head, modifier), parser.config.kinds
    if sentence.heads[modifier] == head:
        is_first_child = neighbours(sentence.heads, head, modifier)[0] == head
        has_siblings = ("first-child" if is_first_child else "next-sibling") in kinds
        reasons += [reason for reason in arcs.of_tree(modifier) if reason.part != "sibling" or has_siblings]
        has_mark = {
            "nonprojective": nonprojective_arcs(sentence.heads)[modifier],
            "crossing": modifier in crossing_arcs(sentence.heads),
        }
        for kind, flip in MARKS.items():
            if kind in kinds and has_mark[kind]:
                of_arc = arcs.of_arc(head, modifier, flip=flip)
                reasons += [reason._replace(part=f"{kind} {reason.part}") for reason in of_arc]
    return sorted_reasons(reasons)
