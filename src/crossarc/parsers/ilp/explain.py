"""Why the parser likes an arc: what each template adds to its score."""

from __future__ import annotations

from crossarc.core import Sentence
from crossarc.features.explain import Reason, sorted_reasons
from crossarc.parsers.ilp.parser import IlpParser
from crossarc.parsers.linear._program import NOT_PROJECTIVE
from crossarc.parsers.linear.explain import ArcReasons
from crossarc.search._candidate_tree import neighbours

__all__ = ["explain"]


def explain(parser: IlpParser, sentence: Sentence, head: int, modifier: int) -> list[Reason]:
    """What speaks for (largest first) and against the arc from head to modifier, in the tree that the sentence has.

    Parts that depend on the rest of the tree are given if the arc is in it; those of an arc that is not projective have
    the same templates as the arc.
    """
    scorer = parser.linear.scorer
    arcs = ArcReasons(scorer.heads_model, scorer.templates.features, sentence)
    reasons, kinds = arcs.of_arc(head, modifier), parser.config.kinds
    if sentence.heads[modifier] == head:
        is_first_child = neighbours(sentence.heads, head, modifier)[0] == head
        has_siblings = ("first-child" if is_first_child else "next-sibling") in kinds
        reasons += [reason for reason in arcs.of_tree(modifier) if reason.part != "sibling" or has_siblings]
        if "nonprojective" in kinds and not _is_projective(sentence.heads.tolist(), head, modifier):
            of_arc = arcs.of_arc(head, modifier, flip=int(NOT_PROJECTIVE))
            reasons += [reason._replace(part=f"nonprojective {reason.part}") for reason in of_arc]
    return sorted_reasons(reasons)


def _is_projective(heads: list[int], head: int, modifier: int) -> bool:
    """Whether all words between the ends of an arc descend from its head."""
    for word in range(min(head, modifier) + 1, max(head, modifier)):
        while word not in (0, head):
            word = heads[word]
        if word != head:
            return False
    return True
