"""Exact inference over dependency trees: score arrays in, trees and numbers out.

``scores[h, m]`` is the log-weight of the arc from head h to modifier m, ``scores[h, m, l]`` that of the arc with label
l; node 0 is the root, words are 1..n, -inf forbids an arc, and column 0 and the diagonal are ignored. Inputs are never
modified.

>>> import numpy as np
>>> from crossarc import trees
>>> scores = np.array([[0, 9, 10, 9], [0, 0, 20, 3], [0, 30, 0, 30], [0, 11, 0, 0]])
>>> trees.best_tree(scores).heads.tolist()
[-1, 2, 0, 2]
"""

from crossarc.core import Constraints, NoTreeError, Tree, UnsupportedConstraint
from crossarc.trees.best import best_tree, best_trees
from crossarc.trees.distribution import TreeDistribution
from crossarc.trees.grandparents import best_grandparent_tree
from crossarc.trees.graphs import best_graph, graph_score
from crossarc.trees.k_best import k_best_trees, k_best_trees_batch
from crossarc.trees.padding import PaddedTrees, padded
from crossarc.trees.risk import min_risk_tree, min_risk_trees
from crossarc.trees.samples import sample_trees, sample_trees_batch
from crossarc.trees.second_order import best_second_order_tree, best_second_order_trees
from crossarc.trees.second_order_sums import second_order_log_partition, second_order_marginals
from crossarc.trees.shape import (
    arc_degrees,
    crossing_arcs,
    degree,
    gap_degree,
    is_projective,
    is_tree,
    is_well_nested,
    nonprojective_arcs,
)
from crossarc.trees.sums import (
    entropies,
    entropy,
    log_partition,
    log_partitions,
    log_partitions_and_marginals,
    marginals,
    marginals_batch,
)

__all__ = [
    "Constraints",
    "NoTreeError",
    "PaddedTrees",
    "Tree",
    "TreeDistribution",
    "UnsupportedConstraint",
    "arc_degrees",
    "best_grandparent_tree",
    "best_graph",
    "best_second_order_tree",
    "best_second_order_trees",
    "best_tree",
    "best_trees",
    "crossing_arcs",
    "degree",
    "entropies",
    "entropy",
    "gap_degree",
    "graph_score",
    "is_projective",
    "is_tree",
    "is_well_nested",
    "k_best_trees",
    "k_best_trees_batch",
    "log_partition",
    "log_partitions",
    "log_partitions_and_marginals",
    "marginals",
    "marginals_batch",
    "min_risk_tree",
    "min_risk_trees",
    "nonprojective_arcs",
    "padded",
    "sample_trees",
    "sample_trees_batch",
    "second_order_log_partition",
    "second_order_marginals",
]
