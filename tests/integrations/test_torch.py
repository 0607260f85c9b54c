"""The torch layer: sums against enumeration, gradients against enumeration and finite differences."""

from __future__ import annotations

import numpy as np
import pytest

import oracles
from crossarc import trees
from crossarc.core import NoTreeError

torch = pytest.importorskip("torch", reason="torch is not installed: pip install '.[neural]'")
from crossarc.integrations import torch as layer  # noqa: E402

LENGTHS = [4, 0, 2, 1]
FLAGS = [
    {"single_root": single_root, "projective": projective}
    for single_root in (False, True)
    for projective in (False, True)
]
flags = pytest.mark.parametrize("flags", FLAGS, ids=lambda f: "-".join(k for k in f if f[k]) or "plain")
labels = pytest.mark.parametrize("labels", [(), (2,)], ids=["arcs", "labelled"])
types = pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=["float32", "float64"])
TOLERANCE = {torch.float32: 1e-5, torch.float64: 1e-10}


@pytest.fixture(autouse=True)
def one_thread():
    torch.set_num_threads(1)


def batch(labels=(), seed=1, words=4):
    """Scores with forbidden arcs, and with anything at all where it does not count."""
    rng = np.random.default_rng(seed)
    scores = rng.normal(size=(len(LENGTHS), words + 1, words + 1, *labels))
    scores[0, 1, 2] = scores[2, 2, 1] = -np.inf
    if labels:
        scores[0, 3, 1, -1] = -np.inf
    scores[:, :, 0] = np.nan
    scores[:, range(words + 1), range(words + 1)] = np.inf
    for i, n in enumerate(LENGTHS):
        scores[i, n + 1 :] = scores[i, :, n + 1 :] = np.nan
    return scores


def sentences(scores):
    """(i, the scores without padding, for the oracles)"""
    for i, n in enumerate(LENGTHS):
        yield i, np.nan_to_num(scores[i, : n + 1, : n + 1], nan=0.0, posinf=0.0, neginf=-np.inf)


def of_possible_arcs(scores, function):
    """The finite scores that count, as a tensor, and the function of these alone: what gradients are checked of."""
    possible = np.isfinite(scores)

    def of_finite(finite):
        whole = torch.tensor(scores)
        return function(whole.masked_scatter(torch.tensor(possible), finite))

    return torch.tensor(scores[possible]).requires_grad_(), of_finite


@flags
@labels
@types
def test_log_partition_and_its_gradient_are_those_of_enumeration(labels, flags, dtype):
    array = batch(labels)
    scores = torch.tensor(array, dtype=dtype, requires_grad=True)
    log_z = layer.log_partition(scores, LENGTHS, **flags)
    assert log_z.dtype == dtype
    weights = torch.tensor([1.0, 2.0, -3.0, 0.5], dtype=dtype)
    (weights * log_z).sum().backward()
    expected = np.zeros(array.shape)
    for i, own in sentences(array):
        assert log_z[i].item() == pytest.approx(oracles.log_partition(own, **flags), abs=TOLERANCE[dtype])
        expected[i, : len(own), : len(own)] = weights[i].item() * oracles.marginals(own, **flags)
    np.testing.assert_allclose(scores.grad, expected, rtol=0, atol=TOLERANCE[dtype])


@flags
@labels
@types
def test_marginals_and_entropy_are_those_of_enumeration(labels, flags, dtype):
    array = batch(labels)
    scores = torch.tensor(array, dtype=dtype)
    probabilities = layer.marginals(scores, torch.tensor(LENGTHS), **flags)
    entropies = layer.entropy(scores, torch.tensor(LENGTHS), **flags)
    assert probabilities.dtype == entropies.dtype == dtype
    expected = np.zeros(array.shape)
    for i, own in sentences(array):
        expected[i, : len(own), : len(own)] = oracles.marginals(own, **flags)
        assert entropies[i].item() == pytest.approx(oracles.entropy(own, **flags), abs=TOLERANCE[dtype])
    np.testing.assert_allclose(probabilities, expected, rtol=0, atol=TOLERANCE[dtype])


@pytest.mark.slow
@flags
@labels
@pytest.mark.parametrize("function", [layer.log_partition, layer.marginals, layer.entropy], ids=lambda f: f.__name__)
def test_gradients_are_finite_differences(function, labels, flags):
    assert torch.autograd.gradcheck(*reversed(of_possible_arcs(batch(labels), lambda s: function(s, LENGTHS, **flags))))


@pytest.mark.slow
@flags
@labels
def test_log_partition_can_be_differentiated_twice(labels, flags):
    finite, function = of_possible_arcs(batch(labels), lambda s: layer.log_partition(s, LENGTHS, **flags))
    assert torch.autograd.gradgradcheck(function, finite)


@pytest.mark.slow
@flags
@labels
@types
def test_gradients_are_zero_where_there_is_no_arc(labels, flags, dtype):
    array = batch(labels)
    scores = torch.tensor(array, dtype=dtype, requires_grad=True)
    (layer.entropy(scores, LENGTHS, **flags).sum() + layer.marginals(scores, LENGTHS, **flags).pow(2).sum()).backward()
    assert torch.isfinite(scores.grad).all()
    assert not scores.grad[~np.isfinite(array)].any()
    assert scores.grad.any()


@pytest.mark.slow
def test_third_derivatives_are_refused():
    scores = torch.zeros(1, 3, 3, requires_grad=True)
    (gradient,) = torch.autograd.grad(layer.entropy(scores).sum(), scores, create_graph=True)
    with pytest.raises(NotImplementedError, match="once"):
        gradient.sum().backward()


@pytest.mark.slow
def test_gradients_of_likely_cycles():
    """Two arcs of a cycle that are e^60 times as likely as all others: the Laplacian is singular to all its digits."""
    array = np.random.default_rng(2).normal(size=(1, 4, 4))
    array[0, 1, 2] += 60
    array[0, 2, 1] += 60
    values = np.random.default_rng(3).normal(size=array.shape)
    scores = torch.tensor(array, requires_grad=True)
    (layer.marginals(scores) * torch.tensor(values)).sum().backward()
    np.testing.assert_allclose(scores.grad[0], oracles.covariances(array[0], values[0]), rtol=0, atol=1e-12)


def test_any_layout_is_read_and_none_is_changed():
    array = np.random.default_rng(4).normal(size=(2, 5, 5))
    transposed = torch.tensor(array).transpose(1, 2).contiguous().transpose(1, 2)
    before = transposed.clone()
    np.testing.assert_allclose(layer.log_partition(transposed), trees.log_partitions(array))
    assert torch.equal(transposed, before)


@flags
@labels
def test_best_trees_are_those_of_trees(labels, flags):
    array = batch(labels)
    scores = torch.tensor(array, requires_grad=True)
    found = layer.best_trees(scores, LENGTHS, **flags)
    for i, own in sentences(array):
        best = trees.best_tree(own, **flags)
        n = len(own) - 1
        assert found.heads[i].tolist() == [*best.heads, *[-1] * (4 - n)]
        assert found.scores[i].item() == pytest.approx(best.score)
        if labels:
            assert found.labels[i].tolist() == [*best.labels, *[-1] * (4 - n)]
    found.scores.sum().backward()
    assert scores.grad.sum() == sum(LENGTHS)
    assert torch.isfinite(scores.grad).all()


def test_a_loss_is_minus_the_log_probability():
    array = np.random.default_rng(6).normal(size=(1, 4, 4, 3))
    scores, heads, names = torch.tensor(array), torch.tensor([[-1, 2, 0, 2]]), torch.tensor([[-1, 0, 2, 1]])
    distribution = trees.TreeDistribution(array[0])
    log_z = layer.log_partition(scores)
    tree = trees.Tree(heads[0].numpy(), names[0].numpy(), 0.0)
    labelled, unlabelled = layer.tree_scores(scores, heads, names), layer.tree_scores(scores, heads)
    assert (labelled - log_z).item() == pytest.approx(distribution.log_prob(tree))
    assert (unlabelled - log_z).item() == pytest.approx(distribution.log_prob(heads[0].numpy()))


# ---- siblings --------------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("single_root", [False, True])
@labels
def test_second_order_sums_are_those_of_trees(labels, single_root):
    rng = np.random.default_rng(7)
    arcs, siblings = rng.normal(size=(2, 5, 5, *labels)), rng.normal(size=(2, 5, 5, 5))
    arcs[0, 1, 2] = siblings[1, 2, 2, 1] = -np.inf
    lengths = [4, 3]
    tensors = torch.tensor(arcs), torch.tensor(siblings)
    log_z = layer.second_order_log_partition(*tensors, lengths, single_root=single_root)
    of_arcs, of_parts = layer.second_order_marginals(*tensors, lengths, single_root=single_root)
    found = layer.best_second_order_trees(*tensors, lengths, single_root=single_root)
    for i, n in enumerate(lengths):
        own = arcs[i, : n + 1, : n + 1], siblings[i, : n + 1, : n + 1, : n + 1]
        assert log_z[i].item() == pytest.approx(trees.second_order_log_partition(*own, single_root=single_root))
        expected = trees.second_order_marginals(*own, single_root=single_root)
        np.testing.assert_allclose(of_arcs[i, : n + 1, : n + 1], expected[0], atol=1e-12)
        np.testing.assert_allclose(of_parts[i, : n + 1, : n + 1, : n + 1], expected[1], atol=1e-12)
        best = trees.best_second_order_tree(*own, single_root=single_root)
        assert found.heads[i, : n + 1].tolist() == best.heads.tolist()
        assert found.scores[i].item() == pytest.approx(best.score)


@pytest.mark.slow
def test_second_order_entropy_is_that_of_enumeration():
    rng = np.random.default_rng(8)
    arcs, siblings = rng.normal(size=(5, 5)), rng.normal(size=(5, 5, 5))
    every = oracles.all_trees(4, projective=True)
    scores = np.array([oracles.second_order_score(arcs, siblings, heads) for heads in every])
    log_p = scores - np.logaddexp.reduce(scores)
    found = layer.second_order_entropy(torch.tensor(arcs)[None], torch.tensor(siblings)[None])
    assert found.item() == pytest.approx(-(np.exp(log_p) * log_p).sum())


@pytest.mark.slow
@pytest.mark.parametrize("single_root", [False, True])
@pytest.mark.parametrize(
    "function",
    [layer.second_order_log_partition, layer.second_order_marginals, layer.second_order_entropy],
    ids=lambda f: f.__name__,
)
def test_second_order_gradients_are_finite_differences(function, single_root):
    rng = np.random.default_rng(9)
    inputs = [torch.tensor(rng.normal(size=shape), requires_grad=True) for shape in ((2, 4, 4), (2, 4, 4, 4))]
    assert torch.autograd.gradcheck(lambda a, s: function(a, s, [3, 2], single_root=single_root), inputs)


@pytest.mark.slow
def test_second_order_scores_of_trees():
    rng = np.random.default_rng(10)
    arcs, siblings = rng.normal(size=(5, 5)), rng.normal(size=(5, 5, 5))
    every = oracles.all_trees(4, projective=True)
    many = torch.tensor(arcs).expand(len(every), 5, 5), torch.tensor(siblings).expand(len(every), 5, 5, 5)
    found = layer.second_order_tree_scores(*many, torch.tensor(every))
    np.testing.assert_allclose(found, [oracles.second_order_score(arcs, siblings, heads) for heads in every])


# ---- errors ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("shape", "lengths", "message"),
    [
        ((2, 3, 4), None, r"must have shape .*, not \(2, 3, 4\)"),
        ((3, 3), None, "must have shape"),
        ((2, 3, 3, 0), None, "must have shape"),
        ((2, 3, 3), [2], "1 lengths for 2 sentences"),
        ((2, 3, 3), [2, 3], r"lengths\[1\] is 3, but there is room for 2 words"),
        ((2, 3, 3), [-1, 2], r"lengths\[0\] is -1"),
    ],
)
def test_wrong_shapes_are_named(shape, lengths, message):
    for function in (layer.log_partition, layer.marginals, layer.entropy, layer.best_trees):
        with pytest.raises(ValueError, match=message):
            function(torch.zeros(shape), lengths)


def test_wrong_numbers_are_named():
    scores = torch.zeros(2, 3, 3)
    scores[1, 2, 1] = torch.nan
    with pytest.raises(ValueError, match=r"scores\[1, 2, 1\] is nan"):
        layer.log_partition(scores)
    with pytest.raises(ValueError, match="float32 or float64, not torch"):
        layer.log_partition(scores.half())


def test_sentences_without_a_tree_are_named():
    scores = torch.zeros(2, 3, 3)
    scores[1, :, 2] = -torch.inf
    with pytest.raises(NoTreeError, match=r"no tree for scores\[1\]"):
        layer.log_partition(scores)


def test_siblings_of_another_shape_are_refused():
    with pytest.raises(ValueError, match=r"siblings must have shape \(1, 3, 3, 3\)"):
        layer.second_order_log_partition(torch.zeros(1, 3, 3), torch.zeros(1, 3, 3))
