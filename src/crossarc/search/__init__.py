"""The search for the best trees by the scores of their parts: arcs, siblings, grandparents, numbers of children."""

from crossarc.scorers.part_scores import PartScores, part_scores
from crossarc.search.best import best_trees
from crossarc.search.methods import Exact, HillClimbing, SecondOrder

__all__ = ["Exact", "HillClimbing", "PartScores", "SecondOrder", "best_trees", "part_scores"]
