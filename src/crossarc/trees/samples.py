"""Random trees, drawn from the exact distribution."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from crossarc.core import Constraints, Tree
from crossarc.trees import _ancestral, _inside_outside
from crossarc.trees._batch import ConstraintsOfEach, Group, Lengths, ListOfScores, groups_of, of_sentences
from crossarc.trees._input import Scores, checked_scores, flags_of, masked, no_tree, score_of_tree, summed_labels

__all__ = ["sample_trees", "sample_trees_batch"]


def sample_trees(
    scores: ArrayLike,
    size: int,
    *,
    rng: np.random.Generator | int,
    constraints: Constraints | None = None,
    single_root: bool = False,
    projective: bool = False,
) -> list[Tree]:
    """Independent trees, each drawn with a probability proportional to exp of its score.

    Parameters
    ----------
    scores : array of shape (n+1, n+1) or (n+1, n+1, L)
        Log-weights of the arcs; -inf forbids one.
    size : int
        How many trees.
    rng : numpy Generator, or int
        Where the randomness comes from: the same seed gives the same trees.
    constraints, single_root, projective
        Which trees there are: see `best_tree`.

    Returns
    -------
    list of Tree

    Raises
    ------
    NoTreeError, ValueError, UnsupportedConstraint
        As `best_tree`.

    Notes
    -----
    Non-projective trees are drawn word by word from the exact conditional probabilities of their heads, in O(n³) each
    whatever the scores (`_ancestral`). Projective ones are drawn top down from the inside sums, in O(n²) each
    after O(n³).

    Examples
    --------
    >>> import numpy as np
    >>> [tree.heads.tolist() for tree in sample_trees(np.zeros((4, 4)), 2, rng=1)]
    [[-1, 2, 3, 0], [-1, 3, 0, 0]]
    """
    single_root, projective = flags_of(constraints, single_root=single_root, projective=projective)
    array = masked(checked_scores(scores), constraints)
    return _sampled(array, _checked_size(size), np.random.default_rng(rng), single_root, projective, "scores")


def sample_trees_batch(
    list_of_scores: ListOfScores,
    size: int,
    *,
    rng: np.random.Generator | int,
    lengths: Lengths = None,
    constraints: ConstraintsOfEach = None,
    single_root: bool = False,
    projective: bool = False,
    threads: int = 1,
) -> list[list[Tree]]:
    """`sample_trees` of many sentences, with the parameters and the errors of `best_trees`.

    Sentence i has a generator of its own, ``np.random.default_rng(rng).spawn(B)[i]``: the same seed gives the same
    trees, in any number of threads.

    Examples
    --------
    >>> import numpy as np
    >>> [len(trees) for trees in sample_trees_batch([np.zeros((3, 3)), np.zeros((4, 4))], 5, rng=1)]
    [5, 5]
    """
    count = _checked_size(size)
    groups = groups_of(list_of_scores, lengths, constraints, single_root, projective)
    generators = np.random.default_rng(rng).spawn(sum(len(group.sentences) for group in groups))

    def draw(scores: Scores, group: Group, i: int) -> list[Tree]:
        generator = generators[group.numbers[i]]
        return _sampled(scores, count, generator, group.single_root, group.projective, group.name_of(i))

    return of_sentences(draw, groups, threads)


def _checked_size(size: int) -> int:
    if size < 0:
        raise ValueError(f"size must not be negative, but is {size}")
    return size


def _sampled(
    scores: Scores, size: int, generator: np.random.Generator, single_root: bool, projective: bool, name: str
) -> list[Tree]:
    arcs = summed_labels(scores)
    heads = np.empty((size, len(arcs)), dtype=np.int64)
    if projective:
        log_z = _inside_outside.sample(arcs, single_root, generator, size, heads)
    else:
        log_z = _ancestral.sample(arcs, single_root, generator.random((size, len(arcs) - 1)), heads)
    if log_z == -np.inf:
        raise no_tree(name, single_root=single_root, projective=projective)
    if scores.ndim == 2:
        return [Tree(tree, None, score_of_tree(scores, tree)) for tree in heads]
    labels = _sampled_labels(scores, heads, generator)
    return [Tree(tree, chosen, score_of_tree(scores, tree, chosen)) for tree, chosen in zip(heads, labels, strict=True)]


def _sampled_labels(scores: Scores, heads: NDArray[np.int64], generator: np.random.Generator) -> NDArray[np.int64]:
    """A label for each arc, given the arc: the one with the highest score plus Gumbel noise."""
    labels = np.full(heads.shape, -1, dtype=np.int64)
    words = np.arange(1, heads.shape[1])
    for tree, chosen in zip(heads, labels, strict=True):
        of_arcs = scores[tree[1:], words]
        chosen[1:] = (of_arcs + generator.gumbel(size=of_arcs.shape)).argmax(axis=1)
    return labels
