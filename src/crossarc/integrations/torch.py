"""Exact inference over dependency trees as functions of torch tensors: padded batches in, differentiable sums out.

``scores[b, h, m]`` is the log-weight of the arc from head h to word m in sentence b, ``scores[b, h, m, l]`` that of the
arc with label l; node 0 is the root, words are 1..n, and -inf forbids an arc. A tree's probability is proportional to
exp of the sum of its arcs' scores. Column 0, the diagonal and the padding are ignored, whatever they hold, and have a
gradient of 0, as forbidden arcs do. Tensors are float32 or float64, on any device; the work is done on the CPU,
in float64, by the kernels of `crossarc.trees`.

Gradients are exact: that of log Z is the marginals, that of the marginals the covariances of arcs. Both are found by
the algorithms of the sums, in O(n³) for a sentence, and scores may spread over any range. `log_partition` can be
differentiated twice, all other functions once.

>>> import torch
>>> scores = torch.zeros(2, 5, 5, requires_grad=True)
>>> log_z = log_partition(scores, lengths=[4, 2])  # (n+1)^(n-1) trees over n words
>>> log_z.exp().round()
tensor([125.,   3.], grad_fn=<RoundBackward0>)
>>> log_z.sum().backward()
>>> scores.grad[1, :3, 1]  # the probabilities of the heads of the first word of the second sentence
tensor([0.6667, 0.0000, 0.3333])
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from crossarc import trees
from crossarc.trees import _padded
from crossarc.trees._padded import TreesOfBatch

__all__ = [
    "Trees",
    "best_second_order_trees",
    "best_trees",
    "entropy",
    "log_partition",
    "marginals",
    "second_order_entropy",
    "second_order_log_partition",
    "second_order_marginals",
    "second_order_tree_scores",
    "tree_scores",
]

Lengths = Tensor | Sequence[int] | None


class Trees(NamedTuple):
    """A tree of each sentence."""

    heads: Tensor  # (batch, n+1) of integers; -1 for node 0 and the padding
    labels: Tensor | None  # the same for labels; None if the scores have none
    scores: Tensor  # (batch,): the sums of the scores of their arcs, differentiable


def log_partition(
    scores: Tensor, lengths: Lengths = None, *, single_root: bool = False, projective: bool = False
) -> Tensor:
    """The logarithm of the sum of exp(score) over all trees, of each sentence.

    With `tree_scores`, this is the loss of a log-linear model: log Z minus the score of the gold tree.

    Parameters
    ----------
    scores : tensor of shape (batch, n+1, n+1) or (batch, n+1, n+1, L)
    lengths : tensor or sequence of ``batch`` integers, optional
        The number of words of each sentence; n by default.
    single_root : bool
        Only trees whose root has exactly one child.
    projective : bool
        Only trees without crossing arcs (inside-outside); all trees otherwise (Matrix-Tree theorem).

    Returns
    -------
    tensor of shape (batch,)

    Raises
    ------
    NoTreeError
        A sentence has no tree.
    ValueError
        A score is NaN or +inf; a shape, a length or the type of the scores is wrong.
    """
    which = _trees(scores, lengths, single_root, projective)
    return _sums(_arcs(scores, which), which)[0]


def marginals(
    scores: Tensor, lengths: Lengths = None, *, single_root: bool = False, projective: bool = False
) -> Tensor:
    """The probability of each (labelled) arc: a tensor like the scores, whose gradient can be taken.

    Parameters and errors are those of `log_partition`.

    >>> marginals(torch.zeros(1, 3, 3))
    tensor([[[0.0000, 0.6667, 0.6667],
             [0.0000, 0.0000, 0.3333],
             [0.0000, 0.3333, 0.0000]]])
    """
    which = _trees(scores, lengths, single_root, projective)
    arcs = _arcs(scores, which)
    return _of_labels(_sums(arcs, which)[1], scores, arcs)


def entropy(scores: Tensor, lengths: Lengths = None, *, single_root: bool = False, projective: bool = False) -> Tensor:
    """The entropy of the distribution over the (labelled) trees of each sentence, in nats: shape (batch,).

    Parameters and errors are those of `log_partition`.

    >>> entropy(torch.zeros(1, 5, 5)).exp().round()
    tensor([125.])
    """
    which = _trees(scores, lengths, single_root, projective)
    arcs = _arcs(scores, which)
    log_z, probabilities = _sums(arcs, which)
    return log_z - _expected(scores, _of_labels(probabilities, scores, arcs))


def best_trees(
    scores: Tensor, lengths: Lengths = None, *, single_root: bool = False, projective: bool = False
) -> Trees:
    """The tree with the highest score of each sentence: see `crossarc.trees.best_tree`.

    Parameters and errors are those of `log_partition`.

    >>> found = best_trees(torch.tensor([[[0., 1., 5.], [0., 0., 2.], [0., 4., 0.]]]))
    >>> found.heads, found.scores
    (tensor([[-1,  2,  0]]), tensor([9.]))
    """
    lengths_of_each = (_trees(scores, lengths, single_root, projective).sizes - 1).tolist()
    found = trees.best_trees(_array(scores), lengths=lengths_of_each, single_root=single_root, projective=projective)
    heads, labels = _heads_and_labels(found, scores)
    return Trees(heads, labels, tree_scores(scores, heads, labels))


def tree_scores(scores: Tensor, heads: Tensor, labels: Tensor | None = None) -> Tensor:
    """The sum of the scores of the arcs of a tree of each sentence: shape (batch,).

    Parameters
    ----------
    scores : tensor of shape (batch, n+1, n+1) or (batch, n+1, n+1, L)
    heads : tensor of shape (batch, n+1) of integers
        The head of each word. Words whose head is -1 do not count: node 0, and the padding.
    labels : tensor of shape (batch, n+1) of integers, optional
        The label of the arc into each word. Without it, the weights of the labels of an arc are summed.

    Examples
    --------
    >>> tree_scores(torch.tensor([[[0., 1., 5.], [0., 0., 2.], [0., 4., 0.]]]), torch.tensor([[-1, 2, 0]]))
    tensor([9.])
    """
    own = scores[_places(heads, scores)]
    if labels is not None:
        own = own.gather(-1, labels.clamp(min=0)[..., None])[..., 0]
    elif scores.dim() == 4:
        own = _log_sum(own, (own == -torch.inf).all(-1) | (heads < 0))
    return _sum_over_words(own, heads)


def second_order_log_partition(
    arcs: Tensor, siblings: Tensor, lengths: Lengths = None, *, single_root: bool = False
) -> Tensor:
    """`log_partition` of projective trees whose score is the sum of those of arcs and of adjacent siblings.

    Parameters
    ----------
    arcs : tensor of shape (batch, n+1, n+1) or (batch, n+1, n+1, L)
    siblings : tensor of shape (batch, n+1, n+1, n+1)
        ``siblings[b, h, s, m]`` is added for the arc from h to m if s is the child of h next to m, towards h and on
        the same side; s == h if m is the first child on its side. -inf forbids it. Others are ignored.
    lengths, single_root
        As for `log_partition`.

    Raises
    ------
    NoTreeError, ValueError
        As `log_partition`. ``scores`` in their messages is ``arcs[:, :, None] + siblings``.

    >>> second_order_log_partition(torch.zeros(1, 3, 3), torch.zeros(1, 3, 3, 3)).exp()
    tensor([3.])
    """
    which = _trees(arcs, lengths, single_root, True)
    return _sums(_parts(_arcs(arcs, which), siblings), which)[0]


def second_order_marginals(
    arcs: Tensor, siblings: Tensor, lengths: Lengths = None, *, single_root: bool = False
) -> tuple[Tensor, Tensor]:
    """The probabilities of (labelled) arcs and of parts (h, s, m): tensors like ``arcs`` and ``siblings``.

    Parameters and errors are those of `second_order_log_partition`.
    """
    which = _trees(arcs, lengths, single_root, True)
    summed = _arcs(arcs, which)
    _, probabilities = _sums(_parts(summed, siblings), which)
    return _of_labels(probabilities.sum(2), arcs, summed), probabilities


def second_order_entropy(
    arcs: Tensor, siblings: Tensor, lengths: Lengths = None, *, single_root: bool = False
) -> Tensor:
    """`entropy` with siblings; parameters and errors are those of `second_order_log_partition`."""
    which = _trees(arcs, lengths, single_root, True)
    summed = _arcs(arcs, which)
    log_z, probabilities = _sums(_parts(summed, siblings), which)
    of_arcs = _of_labels(probabilities.sum(2), arcs, summed)
    return log_z - _expected(arcs, of_arcs) - _expected(siblings, probabilities)


def best_second_order_trees(
    arcs: Tensor, siblings: Tensor, lengths: Lengths = None, *, single_root: bool = False
) -> Trees:
    """The best projective trees; parameters and errors are those of `second_order_log_partition`."""
    of_each = (_trees(arcs, lengths, single_root, True).sizes - 1).tolist()
    found = trees.best_second_order_trees(_array(arcs), _array(siblings), lengths=of_each, single_root=single_root)
    heads, labels = _heads_and_labels(found, arcs)
    return Trees(heads, labels, second_order_tree_scores(arcs, siblings, heads, labels))


def second_order_tree_scores(arcs: Tensor, siblings: Tensor, heads: Tensor, labels: Tensor | None = None) -> Tensor:
    """`tree_scores` with siblings."""
    batch, h, m = _places(heads, arcs)
    return tree_scores(arcs, heads, labels) + _sum_over_words(siblings[batch, h, _siblings(heads), m], heads)


class _Sums(torch.autograd.Function):
    """log Z and the marginals of arcs (batch, n+1, n+1), or of parts (batch, n+1, n+1, n+1)."""

    @staticmethod
    def forward(ctx: Any, scores: Tensor, which: TreesOfBatch) -> tuple[Tensor, Tensor]:
        sums = _padded.sums(_array(scores, copy=True), which)
        log_z, probabilities = (torch.from_numpy(array).to(scores) for array in sums)
        ctx.save_for_backward(scores, probabilities)
        ctx.which = which
        ctx.set_materialize_grads(False)
        return log_z, probabilities

    @staticmethod
    def backward(ctx: Any, of_log_z: Tensor | None, of_probabilities: Tensor | None) -> tuple[Tensor | None, None]:
        scores, probabilities = ctx.saved_tensors
        gradient = None
        if of_log_z is not None:
            gradient = of_log_z.reshape(-1, *[1] * (probabilities.dim() - 1)) * probabilities
        if of_probabilities is not None:
            change = _Covariances.apply(scores, probabilities, of_probabilities, ctx.which)
            gradient = change if gradient is None else gradient + change
        return gradient, None


class _Covariances(torch.autograd.Function):
    """The derivative of the marginals, times a tensor like them."""

    @staticmethod
    def forward(ctx: Any, scores: Tensor, probabilities: Tensor, values: Tensor, which: TreesOfBatch) -> Tensor:
        # what cannot be may come with any gradient
        finite = values.masked_fill(probabilities == 0.0, 0.0)
        return torch.from_numpy(_padded.covariances(_array(scores), _array(finite), which)).to(scores)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[None, ...]:
        raise NotImplementedError("log_partition can be differentiated twice, marginals and entropy once")


def _sums(scores: Tensor, which: TreesOfBatch) -> tuple[Tensor, Tensor]:
    return _Sums.apply(scores, which)


def _array(tensor: Tensor, *, copy: bool = False) -> np.ndarray[Any, Any]:
    """As kernels want it; not to be written to unless it is a copy."""
    return tensor.detach().to("cpu", torch.float64, copy=copy).contiguous().numpy()


def _trees(scores: Tensor, lengths: Lengths, single_root: bool, projective: bool) -> TreesOfBatch:
    """Which trees there are; checks shape and type of the scores, and the lengths."""
    shape = tuple(scores.shape)
    if scores.dim() not in (3, 4) or shape[1] != shape[2] or 0 in shape[1:]:
        raise ValueError(f"scores must have shape (batch, n+1, n+1) or (batch, n+1, n+1, L), not {shape}")
    if scores.dtype not in (torch.float32, torch.float64):
        raise ValueError(f"scores must be float32 or float64, not {scores.dtype}")
    if lengths is None:
        return TreesOfBatch(np.full(shape[0], shape[1], np.int64), single_root, projective)
    sizes = np.asarray(lengths.tolist() if isinstance(lengths, Tensor) else lengths, np.int64) + 1
    if sizes.shape != shape[:1]:
        raise ValueError(f"{sizes.size} lengths for {shape[0]} sentences")
    wrong = np.flatnonzero((sizes < 1) | (sizes > shape[1]))
    if len(wrong):
        raise ValueError(f"lengths[{wrong[0]}] is {sizes[wrong[0]] - 1}, but there is room for {shape[1] - 1} words")
    return TreesOfBatch(sizes, single_root, projective)


def _arcs(scores: Tensor, which: TreesOfBatch) -> Tensor:
    """The score of each arc: labels are summed. Where all are forbidden, it is -inf, and its gradient 0."""
    if scores.dim() != 4:
        return scores
    words = torch.arange(scores.shape[1], device=scores.device)
    inside = words < torch.from_numpy(which.sizes).to(scores.device)[:, None]
    arcs = inside[:, :, None] & inside[:, None, :] & (words[:, None] != words) & (words > 0)
    return _log_sum(scores, ~arcs | (scores == -torch.inf).all(-1))


def _log_sum(scores: Tensor, forbidden: Tensor) -> Tensor:
    """log of the sum of exp(scores) over the labels; -inf with a gradient of 0 if forbidden, whatever is there."""
    return scores.masked_fill(forbidden[..., None], 0.0).logsumexp(-1).masked_fill(forbidden, -torch.inf)


def _of_labels(probabilities: Tensor, scores: Tensor, arcs: Tensor) -> Tensor:
    """The probability of each labelled arc: that of the arc, times that of the label given the arc."""
    if scores.dim() != 4:
        return probabilities
    impossible = (probabilities == 0.0)[..., None]
    logs = scores.masked_fill(impossible, 0.0) - arcs[..., None].masked_fill(impossible, 0.0)
    return (probabilities[..., None] * logs.exp()).masked_fill(impossible, 0.0)


def _expected(scores: Tensor, probabilities: Tensor) -> Tensor:
    """The expected sum of scores."""
    return (probabilities * scores.masked_fill(probabilities == 0.0, 0.0)).flatten(1).sum(1)


def _parts(arcs: Tensor, siblings: Tensor) -> Tensor:
    """The scores of the parts (h, s, m): of arc and siblings together."""
    shape = (*arcs.shape, arcs.shape[-1])
    if siblings.shape != shape:
        raise ValueError(f"siblings must have shape {tuple(shape)} like the arcs, not {tuple(siblings.shape)}")
    return arcs[:, :, None] + siblings


def _heads_and_labels(found: list[trees.Tree], scores: Tensor) -> tuple[Tensor, Tensor | None]:
    """Padded heads and labels of the trees."""
    heads, labels, _ = trees.padded(found, size=scores.shape[1])
    heads_of_each = torch.from_numpy(heads).to(scores.device)
    return heads_of_each, None if labels is None else torch.from_numpy(labels).to(scores.device)


def _places(heads: Tensor, scores: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Indices of the arc into each word; some arc or other for those without a head."""
    batch = torch.arange(len(heads), device=scores.device)[:, None]
    return batch, heads.clamp(min=0), torch.arange(heads.shape[1], device=scores.device)


def _sum_over_words(scores: Tensor, heads: Tensor) -> Tensor:
    return scores.masked_fill(heads < 0, 0.0).sum(1)


def _siblings(heads: Tensor) -> Tensor:
    """The child of each word's head next to the word, towards the head and on the same side; or the head itself."""
    words = torch.arange(heads.shape[1], device=heads.device)
    head, word = heads[:, None, :], words[None, None, :]
    other = words[None, :, None]
    same_head = heads[:, :, None] == head
    to_left = torch.where(same_head & (head < other) & (other < word), other, head).amax(1)
    to_right = torch.where(same_head & (head > other) & (other > word), other, head).amin(1)
    return torch.where(heads < words, to_left, to_right).clamp(min=0)
