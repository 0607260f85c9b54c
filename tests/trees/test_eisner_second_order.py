"""Second-order projective parsing and sums against the enumeration of all trees."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import oracles
from crossarc.core import NoTreeError
from crossarc.trees import sums
from crossarc.trees._eisner import best_projective
from crossarc.trees._eisner_second_order import best_second_order_projective
from crossarc.trees._eisner_second_order_simd import best_second_order_projectives
from crossarc.trees._inside_outside import marginals
from crossarc.trees._simd import LANES
from crossarc.trees.second_order_sums import second_order_log_partition, second_order_marginals


@st.composite
def second_order_scores(draw, max_words=5):
    """Arcs and siblings: continuous, tied or masked, tiny to huge."""
    n = draw(st.integers(0, max_words))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    spread = draw(st.sampled_from([0.0, 1e-3, 1.0, 10.0, 300.0]))
    arcs = spread * rng.normal(size=(n + 1,) * 2)
    siblings = spread * rng.normal(size=(n + 1,) * 3)
    if draw(st.booleans()):
        arcs, siblings = np.round(arcs), np.round(siblings)
    arcs[rng.random(arcs.shape) < draw(st.sampled_from([0.0, 0.3]))] = -np.inf
    siblings[rng.random(siblings.shape) < draw(st.sampled_from([0.0, 0.3]))] = -np.inf
    return arcs, siblings


def best(arcs, siblings, single_root=False):
    heads = np.empty(len(arcs), dtype=np.int64)
    return best_second_order_projective(arcs, siblings, heads, single_root), tuple(heads)


def scored_trees(arcs, siblings, single_root):
    trees = oracles.all_trees(len(arcs) - 1, single_root=single_root, projective=True)
    scored = [(oracles.second_order_score(arcs, siblings, heads), heads) for heads in trees]
    return [(total, heads) for total, heads in scored if total > -np.inf]


@given(scores=second_order_scores(), single_root=st.booleans())
@settings(max_examples=100, deadline=None)
def test_best_is_the_best_of_all(scores, single_root):
    arcs, siblings = scores
    before = arcs.copy(), siblings.copy()
    total, heads = best(arcs, siblings, single_root)
    assert np.array_equal(arcs, before[0])
    assert np.array_equal(siblings, before[1])
    possible = scored_trees(arcs, siblings, single_root)
    if not possible:
        assert total == -np.inf
        return
    assert total == pytest.approx(max(possible)[0], abs=1e-9)
    assert total == pytest.approx({h: t for t, h in possible}[heads], abs=1e-9)


@given(scores=second_order_scores(), single_root=st.booleans())
@settings(max_examples=100, deadline=None)
def test_sums_over_all_trees(scores, single_root):
    arcs, siblings = scores
    before = arcs.copy(), siblings.copy()
    possible = scored_trees(arcs, siblings, single_root)
    if not possible:
        with pytest.raises(NoTreeError):
            second_order_log_partition(arcs, siblings, single_root=single_root)
        with pytest.raises(NoTreeError):
            second_order_marginals(arcs, siblings, single_root=single_root)
        return
    log_z = np.logaddexp.reduce([total for total, _ in possible])
    found = second_order_log_partition(arcs, siblings, single_root=single_root)
    assert found == pytest.approx(log_z, rel=1e-12, abs=1e-10)
    wanted_arcs, wanted_siblings = np.zeros(arcs.shape), np.zeros(siblings.shape)
    for total, heads in possible:
        for h, s, m in oracles.second_order_parts(heads):
            wanted_arcs[h, m] += np.exp(total - log_z)
            wanted_siblings[h, s, m] += np.exp(total - log_z)
    found_arcs, found_siblings = second_order_marginals(arcs, siblings, single_root=single_root)
    np.testing.assert_allclose(found_arcs, wanted_arcs, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(found_siblings, wanted_siblings, rtol=1e-9, atol=1e-12)
    assert np.array_equal(arcs, before[0])
    assert np.array_equal(siblings, before[1])


@pytest.mark.parametrize("single_root", [False, True])
def test_zero_siblings_are_first_order(single_root):
    n = 30
    arcs, siblings = np.random.default_rng(0).normal(size=(n + 1, n + 1)), np.zeros((n + 1,) * 3)
    heads = np.empty(n + 1, dtype=np.int64)
    total = best_projective(arcs, single_root, heads)
    assert best(arcs, siblings, single_root) == (pytest.approx(total), tuple(heads))
    out = np.empty(arcs.shape)
    log_z = marginals(arcs, single_root, out)
    assert second_order_log_partition(arcs, siblings, single_root=single_root) == pytest.approx(log_z)
    found, parts = second_order_marginals(arcs, siblings, single_root=single_root)
    np.testing.assert_allclose(found, out, atol=1e-12)
    np.testing.assert_allclose(parts.sum(1), out, atol=1e-12)


@pytest.mark.parametrize("single_root", [False, True])
def test_no_word(single_root):
    arcs, siblings = np.full((1, 1), np.nan), np.full((1, 1, 1), np.nan)
    assert best(arcs, siblings, single_root) == (0.0, (-1,))
    assert second_order_log_partition(arcs, siblings, single_root=single_root) == 0.0
    assert not second_order_marginals(arcs, siblings, single_root=single_root)[1].any()


@pytest.mark.parametrize("single_root", [False, True])
def test_what_no_tree_has_is_ignored(single_root):
    rng = np.random.default_rng(1)
    arcs, siblings = rng.normal(size=(5, 5)), rng.normal(size=(5, 5, 5))
    noisy_arcs, noisy_siblings = arcs.copy(), siblings.copy()
    noisy_arcs[:, 0] = np.nan
    np.fill_diagonal(noisy_arcs, np.inf)
    for h, s, m in np.ndindex(siblings.shape):
        if not (m > 0 and h != m and (s == h or min(h, m) < s < max(h, m))):
            noisy_siblings[h, s, m] = np.nan
    assert best(noisy_arcs, noisy_siblings, single_root) == best(arcs, siblings, single_root)
    expected = second_order_log_partition(arcs, siblings, single_root=single_root)
    assert second_order_log_partition(noisy_arcs, noisy_siblings, single_root=single_root) == expected


@pytest.mark.parametrize("scale", [1.0, 30.0, 700.0])
def test_marginals_of_a_long_sentence_sum_to_1(scale):
    n = 60
    rng = np.random.default_rng(2)
    arcs, siblings = scale * rng.normal(size=(n + 1,) * 2), scale * rng.normal(size=(n + 1,) * 3)
    found, parts = second_order_marginals(arcs, siblings, single_root=True)
    np.testing.assert_allclose(found[:, 1:].sum(0), 1.0, atol=1e-9)
    np.testing.assert_allclose(parts.sum(1), found, atol=1e-12)


@pytest.mark.parametrize("scale", [0.0, 1.0, 30.0])
def test_long_sentences_without_sibling_scores_have_the_sums_of_first_order(scale):
    """Sums over 170 words leave the range of floating-point numbers unless they are rescaled on the way."""
    n = 170
    arcs = scale * np.random.default_rng(3).normal(size=(n + 1, n + 1))
    siblings = np.zeros((n + 1, n + 1, n + 1))
    assert second_order_log_partition(arcs, siblings) == pytest.approx(
        sums.log_partition(arcs, projective=True), rel=1e-11
    )
    by_arcs, _ = second_order_marginals(arcs, siblings)
    np.testing.assert_allclose(by_arcs, sums.marginals(arcs, projective=True), atol=1e-9)


@pytest.mark.parametrize("shift", [-700.0, 0.0, 700.0])
def test_a_constant_for_each_word_changes_log_z_only_by_itself(shift):
    arcs = np.random.default_rng(4).normal(size=(41, 41))
    siblings = np.random.default_rng(5).normal(size=(41, 41, 41))
    moved = second_order_log_partition(arcs + shift, siblings)
    assert moved == pytest.approx(second_order_log_partition(arcs, siblings) + 40 * shift, rel=1e-12)


@pytest.mark.parametrize("single_root", [False, True])
@pytest.mark.parametrize("n", [0, 1, 2, 3, 7, 8, 20, 65])
def test_sentences_in_simd_lanes_have_the_trees_of_single_ones(n, single_root):
    """At ties too, and whatever is the matter with the others."""
    rng = np.random.default_rng(n)
    arcs = rng.integers(-2, 3, size=(LANES,) + (n + 1,) * 2).astype(float)
    siblings = rng.integers(-2, 3, size=(LANES,) + (n + 1,) * 3).astype(float)
    arcs[1][rng.random(arcs[1].shape) < 0.2] = -np.inf
    siblings[2][rng.random(siblings[2].shape) < 0.2] = -np.inf
    arcs[3] = -np.inf
    arcs[4], siblings[4] = rng.normal(size=arcs[4].shape), rng.normal(size=siblings[4].shape)
    expected = [best(*scores, single_root) for scores in zip(arcs, siblings, strict=True)]
    if n > 0:
        siblings[5, 0, 0, 1] = np.nan
        expected[5] = np.nan, None
    for count in range(1, LANES + 1):
        heads, totals = np.empty((count, n + 1), dtype=np.int64), np.empty(count)
        best_second_order_projectives(tuple(arcs), tuple(siblings), count, single_root, heads, totals)
        assert repr(totals.tolist()) == repr([float(total) for total, _ in expected[:count]])
        for i in np.flatnonzero(totals > -np.inf):
            assert tuple(heads[i]) == expected[i][1]
