"""Why the parser made a link or not: what each template adds to the score of the arc, and to that of no arc."""

from __future__ import annotations

import numpy as np

from crossarc.core import CrossarcError, Sentence
from crossarc.features.attributes import attributes_of
from crossarc.features.explain import Reason, sorted_reasons
from crossarc.parsers.covington._explain import places_at_link
from crossarc.parsers.covington._graph import LEFT_ARC, NO_ARC, RIGHT_ARC
from crossarc.parsers.covington.parser import CovingtonParser, Linear

__all__ = ["explain"]


def explain(parser: CovingtonParser, sentence: Sentence, head: int, modifier: int) -> list[Reason]:
    """What spoke for (largest first) and against the arc from head to modifier when the parser came to it.

    The weights sum to the score of the arc minus that of no arc, given the graph at that time of a parse without
    constraints.

    Raises
    ------
    CrossarcError : for support vector machines, which do not weigh templates
    """
    if not isinstance(parser.classifier, Linear):
        raise CrossarcError("support vector machines do not weigh feature templates one by one")
    templates, weights = parser.features.templates["link"], parser.classifier.links
    action = RIGHT_ARC if head < modifier else LEFT_ARC
    link = min(head, modifier), max(head, modifier)
    places, ends = places_at_link(attributes_of([sentence]), parser.model, *parser.without_constraints(), *link)
    margins = weights[places + action] - weights[places + NO_ARC]
    plain = len(templates) - len(ends)
    sizes = [1] * plain + np.diff(ends, prepend=plain).tolist()  # how many features each template has here
    sums = np.bincount(np.repeat(np.arange(len(templates)), sizes), margins, len(templates))
    return sorted_reasons(Reason("link", line, weight) for line, weight in zip(templates, sums.tolist(), strict=True))
