"""Several parsers as one: what the combination alone can do."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import log_softmax

from changed_models import assert_refused_with
from crossarc.core import Constraints, CrossarcError
from crossarc.parsers import CombinedConfig, SpanningTreeConfig, train
from crossarc.parsers.combined.batch import CombinedBatch, MemberWeights, arc_shares
from oracles import all_trees
from trained import DEV, TEST, TRAIN, trained

pytestmark = pytest.mark.slow


def test_weights_suit_dev():
    """No weight that is doubled or halved finds more heads of dev, no other weights of labels make them likelier."""
    parser = trained("combined")
    members = [member.scored(DEV, Constraints()) for member in parser.members]
    gold = np.concatenate([sentence.heads for sentence in DEV])
    labels = [parser.labels.index(label) for sentence in DEV for label in sentence.deprel]

    def right(arcs):
        return int((CombinedBatch(members, MemberWeights(arcs, parser.weights.labels)).heads == gold).sum())

    def log_p(weights):
        scored = CombinedBatch(members, MemberWeights(parser.weights.arcs, weights))
        return log_softmax(scored.label_scores(gold)[gold >= 0], axis=1)[np.arange(len(labels)), labels].sum()

    (first, second), of_labels = parser.weights.arcs, parser.weights.labels
    for arcs in ((2 * first, second), (first / 2, second), (first, 2 * second), (first, second / 2)):
        assert right(arcs) <= right((first, second))
    for other in ((1.0, 0.0), (0.0, 1.0), (0.5, 0.5), (of_labels[0] * 1.1, of_labels[1])):
        assert log_p(other) <= log_p(of_labels) + 1e-3


def test_the_best_tree_has_the_largest_sum_of_all_trees():
    parser = trained("combined")
    short = [sentence for sentence in TEST if 3 <= len(sentence) <= 6][:5]
    for sentence in short:
        members = [member.scored([sentence], Constraints()) for member in parser.members]
        shares = [arc_shares(member, 0) for member in members]
        words = np.arange(1, len(sentence) + 1)

        def total(heads, shares=shares, words=words):
            weighted = zip(parser.weights.arcs, shares, strict=True)
            return sum(weight * own[list(heads[1:]), words].sum() for weight, own in weighted)

        trees = all_trees(len(sentence), single_root=any(member.single_root for member in members))
        found = next(parser.parse([sentence]))
        assert found.score == pytest.approx(max(map(total, trees)))
        assert total(found.sentence.heads) == pytest.approx(found.score)


def test_members_may_be_files(tmp_path):
    parser = trained("combined")
    for i, member in enumerate(parser.members):
        member.save(tmp_path / f"{i}.crossarc")
    config = CombinedConfig(members=f"{tmp_path / '0.crossarc'},{tmp_path / '1.crossarc'}")
    again = train(TRAIN, config, dev=DEV)
    assert again.weights == parser.weights
    assert list(again.trees(TEST)) == list(parser.trees(TEST))


def test_what_cannot_be_combined(tmp_path):
    with pytest.raises(CrossarcError, match="at least two"):
        CombinedConfig(members="neural")
    with pytest.raises(CrossarcError, match="--dev is missing"):
        train(TRAIN, CombinedConfig())
    with pytest.raises(CrossarcError, match="neither a system, nor a preset, nor a file"):
        train(TRAIN, CombinedConfig(members="nonsense,ms2007"), dev=DEV)
    with pytest.raises(CrossarcError, match="system generative cannot be combined"):
        train(TRAIN, CombinedConfig(members="generative,ms2007"), dev=DEV)
    other = [sentence.with_columns(deprel=["x"] * len(sentence)) for sentence in TRAIN[:20]]
    train(other, SpanningTreeConfig(order="1", epochs=1, hash_bits=16)).save(tmp_path / "other.crossarc")
    trained("order 1").save(tmp_path / "one.crossarc")
    with pytest.raises(CrossarcError, match="other labels"):
        train(TRAIN, CombinedConfig(members=f"{tmp_path / 'one.crossarc'},{tmp_path / 'other.crossarc'}"), dev=DEV)


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"labels": ["a"]}, "different labels"),
        ({"weights": {"arcs": [1.0, 1.0], "labels": [1.0, 1.0, 1.0]}}, "other numbers of weights"),
        ({"members": [{"system": "generative"}] * 2}, "of system generative among several"),
        ({"members": [{"system": "spanning-tree"}] * 2}, "members 0 has no config"),
    ],
)
def test_models_that_do_not_fit_together_are_refused(tmp_path, change, problem):
    assert_refused_with(change, trained("combined"), problem, tmp_path)
