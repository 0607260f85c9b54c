"""Sums at any spread of scores, in sentences of up to 50 words, against arithmetic of high precision."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import oracle_mpmath
from crossarc import trees
from crossarc.trees import NoTreeError

FLAGS = [{"single_root": s, "projective": p} for s in (False, True) for p in (False, True)]
flags = pytest.mark.parametrize("flags", FLAGS, ids=lambda f: "-".join(k for k in f if f[k]) or "plain")
single_roots = pytest.mark.parametrize("single_root", [False, True])

KINDS = {
    "uniform": lambda rng, shape: rng.uniform(-300, 300, shape),
    "three values": lambda rng, shape: rng.choice([-700.0, 0.0, 700.0], size=shape),
    "peaked": lambda rng, shape: rng.normal(size=shape) * 50,
    "huge": lambda rng, shape: rng.normal(size=shape) * 3000,
    "one sign": lambda rng, shape: -rng.exponential(400, size=shape),
    "ordinary": lambda rng, shape: rng.normal(size=shape),
}


def some_scores(rng, kind, masked, shape):
    scores = KINDS[kind](rng, shape)
    scores[rng.random(shape) < masked] = -np.inf
    return scores


# kind, n, share of masked arcs, seed; the first one is that of a log Z below the best tree
LONG = [
    ("uniform", 30, 0.0, 3000004),
    ("three values", 50, 0.3, 1),
    ("three values", 20, 0.3, 2),
    ("huge", 20, 0.2, 3),
    ("one sign", 25, 0.1, 4),
    ("peaked", 50, 0.0, 5),
]
long_sentences = pytest.mark.parametrize(
    ("kind", "n", "masked", "seed"),
    [pytest.param(*case, marks=pytest.mark.slow if case[1] > 30 else ()) for case in LONG],
)


@long_sentences
@single_roots
def test_projective_sums(kind, n, masked, seed, single_root):
    scores = some_scores(np.random.default_rng(seed), kind, masked, (n + 1, n + 1))
    chart = oracle_mpmath.projective(scores, single_root=single_root)
    distribution = trees.TreeDistribution(scores, single_root=single_root, projective=True)
    if chart.z == 0:
        with pytest.raises(NoTreeError):
            _ = distribution.log_partition
        return
    assert distribution.log_partition == pytest.approx(oracle_mpmath.log_of(chart.z), rel=1e-14, abs=1e-10)
    exact, _ = chart.marginals()
    np.testing.assert_allclose(distribution.marginals, exact, rtol=1e-9, atol=1e-12)
    of_samples = np.zeros_like(exact)
    for tree in distribution.sample(200, rng=seed):
        of_samples[tree.heads[1:], np.arange(1, n + 1)] += 1 / 200
    assert (exact[of_samples > 0] > 0).all()
    np.testing.assert_allclose(of_samples, exact, rtol=0, atol=0.2)


@long_sentences
@single_roots
def test_nonprojective_sums(kind, n, masked, seed, single_root):
    scores = some_scores(np.random.default_rng(seed), kind, masked, (n + 1, n + 1))
    weights = oracle_mpmath.weights_of(scores)
    log_z = oracle_mpmath.log_of(oracle_mpmath.sum_of_trees(weights, single_root=single_root))
    distribution = trees.TreeDistribution(scores, single_root=single_root)
    assert distribution.log_partition == pytest.approx(log_z, rel=1e-14, abs=1e-10)
    likely = [(h, m) for h, m in np.argwhere(distribution.marginals > 1e-3) if distribution.marginals[h, m] < 0.999]
    for h, m in [*likely[:2], (n, n // 2)]:
        exact = oracle_mpmath.marginal(weights, h, m, single_root=single_root)
        assert distribution.marginals[h, m] == pytest.approx(exact, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize(("kind", "n", "masked", "seed"), [(kind, min(n, 25), *rest) for kind, n, *rest in LONG])
@single_roots
def test_second_order_sums(kind, n, masked, seed, single_root):
    rng = np.random.default_rng(seed)
    arcs = some_scores(rng, kind, masked, (n + 1, n + 1))
    siblings = some_scores(rng, kind, masked / 3, (n + 1,) * 3)
    chart = oracle_mpmath.projective(arcs, siblings, single_root=single_root)
    if chart.z == 0:
        with pytest.raises(NoTreeError):
            trees.second_order_log_partition(arcs, siblings, single_root=single_root)
        return
    log_z = trees.second_order_log_partition(arcs, siblings, single_root=single_root)
    assert log_z == pytest.approx(oracle_mpmath.log_of(chart.z), rel=1e-14, abs=1e-10)
    found = trees.second_order_marginals(arcs, siblings, single_root=single_root)
    for part, exact in zip(found, chart.marginals(), strict=True):
        np.testing.assert_allclose(part, exact, rtol=1e-9, atol=1e-12)


seeds = st.integers(0, 2**32 - 1)


@flags
@given(seed=seeds, kind=st.sampled_from(list(KINDS)), masked=st.sampled_from([0.0, 0.1, 0.3]))
@example(seed=3000004, kind="uniform", masked=0.0)
def test_sums_agree_with_each_other_and_with_the_best_tree(flags, seed, kind, masked):
    rng = np.random.default_rng(seed)
    n = 30 if seed == 3000004 else int(rng.integers(1, 51))
    scores = some_scores(rng, kind, masked, (n + 1, n + 1))
    distribution = trees.TreeDistribution(scores, **flags)
    try:
        best = distribution.best()
    except NoTreeError:
        with pytest.raises(NoTreeError):
            _ = distribution.log_partition
        return
    rounding = 1e-13 * np.abs(scores[np.isfinite(scores)]).max() * n
    # there are fewer than (n+1)^(n-1) trees
    assert best.score - rounding <= distribution.log_partition <= best.score + n * np.log(n + 1) + rounding
    np.testing.assert_allclose(distribution.marginals[:, 1:].sum(axis=0), 1.0, rtol=0, atol=1e-9)
    assert (distribution.marginals[scores == -np.inf] == 0.0).all()
    if flags["single_root"]:
        assert distribution.marginals[0].sum() == pytest.approx(1.0, abs=1e-9)
    for tree in [*distribution.sample(2, rng=seed), distribution.min_risk()]:
        assert -np.inf < distribution.log_prob(tree) <= rounding + 1e-9


@single_roots
@given(seed=seeds, kind=st.sampled_from(list(KINDS)), masked=st.sampled_from([0.0, 0.1, 0.3]))
def test_second_order_sums_agree_with_the_best_tree(single_root, seed, kind, masked):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 31))
    arcs = some_scores(rng, kind, masked, (n + 1, n + 1))
    siblings = some_scores(rng, kind, masked / 3, (n + 1,) * 3)
    try:
        best = trees.best_second_order_tree(arcs, siblings, single_root=single_root)
    except NoTreeError:
        with pytest.raises(NoTreeError):
            trees.second_order_log_partition(arcs, siblings, single_root=single_root)
        return
    log_z = trees.second_order_log_partition(arcs, siblings, single_root=single_root)
    rounding = 1e-13 * max(np.abs(x[np.isfinite(x)]).max() for x in (arcs, siblings)) * n
    assert best.score - rounding <= log_z <= best.score + n * np.log(n + 1) + rounding
    arc_marginals, sibling_marginals = trees.second_order_marginals(arcs, siblings, single_root=single_root)
    np.testing.assert_allclose(arc_marginals[:, 1:].sum(axis=0), 1.0, rtol=0, atol=1e-9)
    np.testing.assert_allclose(sibling_marginals.sum(axis=1), arc_marginals, rtol=0, atol=1e-9)
