"""How the spanning-tree parser is trained, and the set-ups of the papers by name."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from crossarc.parsers.linear.config import LinearConfig

__all__ = ["PRESETS", "SpanningTreeConfig"]


@dataclass(frozen=True)
class SpanningTreeConfig(LinearConfig):
    """How to train the spanning-tree parser. The defaults are right for most people.

    >>> SpanningTreeConfig(order="1", learner="crf").learner
    'crf'
    """


# What the papers have in common: all heads are looked at, trees are found without their loss, steps are not limited,
# and the root may have several children. Labels are ours: the papers have none.
_PAPER = SpanningTreeConfig(single_root=False, loss_augmented=False, max_candidates=0, aggressiveness=math.inf)

PRESETS = {
    # McDonald, Crammer and Pereira (2005): projective, Eisner's algorithm, 5-best MIRA ("McD2005" in MST05)
    "mcd2005": replace(_PAPER, order="1", projective=True, learner="kbest-mira", k=5, features="mcd2005"),
    # McDonald, Pereira, Ribarov and Hajič (2005): non-projective, Chu-Liu-Edmonds, single-best MIRA (§3.1)
    "mst2005-single": replace(_PAPER, order="1", projective=False, learner="mira", features="mcd2005"),
    # the same with factored MIRA (§3.2)
    "mst2005-factored": replace(_PAPER, order="1", projective=False, learner="factored-mira", features="mcd2005"),
    # McDonald and Pereira (2006): second order, from the exact projective tree by best changes, single-best MIRA
    "mp2006": replace(_PAPER, order="2", projective=False, learner="mira", features="mp2006"),
    # McDonald and Satta (2007), §4.3: log-linear, over all trees; as --learner crf
    "ms2007": SpanningTreeConfig(order="1", learner="crf", max_candidates=0, epochs=20, patience=3),
}
