"""The distribution over the trees of a sentence, as an object."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from crossarc.core import Constraints, Tree
from crossarc.trees._batch import Group
from crossarc.trees._input import INTEGER, checked_scores, flags_of, masked, score_of_tree, summed_labels
from crossarc.trees.best import best_tree
from crossarc.trees.k_best import k_best_trees
from crossarc.trees.risk import safest_tree
from crossarc.trees.samples import sample_trees
from crossarc.trees.shape import checked_tree, is_projective
from crossarc.trees.sums import entropy_of, log_partitions_of, sums_of

__all__ = ["TreeDistribution"]


class TreeDistribution:
    """Trees with probabilities in proportion to exp of their scores: a log-linear model (CRF) of one sentence.

    The scores are checked and copied once; log Z and the marginals are found when they are first asked for, and kept.

    Parameters
    ----------
    scores : array of shape (n+1, n+1) or (n+1, n+1, L)
        ``scores[h, m]`` is the log-weight of the arc from head h to modifier m, ``scores[h, m, l]`` that with label l;
        -inf forbids it. Column 0 and the diagonal are ignored. With labels, this is a distribution over labelled trees.
    constraints, single_root, projective
        Which trees there are: see `best_tree`.

    Raises
    ------
    ValueError
        A score is NaN or +inf, or the shape is wrong.
    UnsupportedConstraint
        ``constraints`` limits the number of children or the degree of non-projectivity.
    NoTreeError
        There is no tree; raised by what is asked for first.

    Notes
    -----
    Everything is exact. Sums take O(n³ + n²L): by the Matrix-Tree theorem (McDonald and Satta 2007) or, projective, by
    the inside-outside algorithm (Paskin 2001).

    Examples
    --------
    *John saw Mary* (McDonald et al. 2005, §2.2.1), at a tenth of the scores:

    >>> import numpy as np
    >>> scores = np.array([[0, 9, 10, 9], [0, 0, 20, 3], [0, 30, 0, 30], [0, 11, 0, 0]])
    >>> trees = TreeDistribution(scores, single_root=True).with_temperature(10)
    >>> best = trees.best()
    >>> best.heads.tolist(), round(best.score, 3)
    ([-1, 2, 0, 2], 7.0)
    >>> round(trees.log_partition, 3), round(trees.entropy, 3)
    (7.517, 1.267)
    >>> np.exp([trees.log_prob(best), trees.log_prob([-1, 0, 1, 2])]).round(3).tolist()
    [0.596, 0.199]
    >>> trees.marginals[:, 1].round(3)  # the heads of John
    array([0.214, 0.   , 0.663, 0.123])
    >>> [tree.heads.tolist() for tree in trees.sample(2, rng=1)]
    [[-1, 2, 0, 2], [-1, 3, 0, 2]]
    """

    def __init__(
        self,
        scores: ArrayLike,
        *,
        constraints: Constraints | None = None,
        single_root: bool = False,
        projective: bool = False,
    ) -> None:
        single_root, projective = flags_of(constraints, single_root=single_root, projective=projective)
        self._kind = Constraints(single_root=single_root, projective=projective)
        self._scores = np.array(masked(checked_scores(scores), constraints))

    @cached_property
    def log_partition(self) -> float:
        """The logarithm of the sum of exp(score) over all trees, log Z."""
        return float(log_partitions_of(self._group)[0])

    @cached_property
    def marginals(self) -> NDArray[np.float64]:
        """The probability of each (labelled) arc: a read-only array like the scores; the gradient of log Z."""
        (log_z,), (marginals,) = sums_of(self._group)
        if "log_partition" not in vars(self):
            self.log_partition = float(log_z)
        marginals.flags.writeable = False
        return marginals

    @cached_property
    def entropy(self) -> float:
        """The entropy in nats: log Z minus the expected score."""
        marginals = self.marginals
        return entropy_of(self._scores, self.log_partition, marginals)

    def log_prob(self, tree: Tree | ArrayLike) -> float:
        """The logarithm of the probability of a tree, -inf for one that is not allowed.

        ``tree`` is a `Tree`, or the heads alone: with labelled scores the sum over all their labels.
        """
        heads, labels = (tree.heads, tree.labels) if isinstance(tree, Tree) else (tree, None)
        heads = checked_tree(heads)
        if len(heads) != len(self._scores):
            raise ValueError(f"a tree over {len(heads) - 1} words, but scores of {len(self._scores) - 1}")
        if self._kind.single_root and len(heads) > 1 and np.count_nonzero(heads == 0) != 1:
            return -np.inf
        if self._kind.projective and not is_projective(heads):
            return -np.inf
        if labels is None:
            return score_of_tree(summed_labels(self._scores), heads) - self.log_partition
        return score_of_tree(self._scores, heads, self._checked_labels(labels)) - self.log_partition

    def best(self) -> Tree:
        """The most probable tree: see `best_tree`."""
        return best_tree(self._scores, constraints=self._kind)

    def k_best(self, k: int) -> list[Tree]:
        """The k most probable trees, best first: see `k_best_trees`."""
        return k_best_trees(self._scores, k, constraints=self._kind)

    def sample(self, size: int, *, rng: np.random.Generator | int) -> list[Tree]:
        """Independent trees drawn from the distribution: see `sample_trees`."""
        return sample_trees(self._scores, size, rng=rng, constraints=self._kind)

    def min_risk(self) -> Tree:
        """The tree with the highest expected number of correct (labelled) arcs: see `min_risk_tree`."""
        return safest_tree(self.marginals, self._group)

    def with_temperature(self, temperature: float) -> TreeDistribution:
        """The distribution of the scores divided by a number: flatter above 1, more peaked below."""
        if not 0.0 < temperature < np.inf:
            raise ValueError(f"the temperature must be positive and finite, not {temperature}")
        return TreeDistribution(self._scores / temperature, constraints=self._kind)

    @property
    def _group(self) -> Group:
        return Group([self._scores], self._kind.single_root, self._kind.projective)

    def _checked_labels(self, labels: Any) -> NDArray[np.int64]:
        if self._scores.ndim == 2:
            raise ValueError("a tree with labels, but scores without")
        array = np.asarray(labels)
        n_labels = self._scores.shape[2]
        if array.shape != (len(self._scores),) or array.dtype.kind not in "iu":
            raise ValueError(f"labels must be {len(self._scores)} integers")
        wrong = np.flatnonzero((array[1:] < 0) | (array[1:] >= n_labels))
        if len(wrong):
            raise ValueError(f"labels[{wrong[0] + 1}] is {array[wrong[0] + 1]}, which is not in 0..{n_labels - 1}")
        return array.astype(INTEGER)
