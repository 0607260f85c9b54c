"""Several parsers as one: what the combination alone can do."""

from __future__ import annotations

import numpy as np
import pytest

from crossarc.core import Constraints, CrossarcError
from crossarc.models import ModelError, read_model, write_model
from crossarc.parsers import CombinedConfig, SpanningTreeConfig, load, train
from crossarc.parsers.combined.batch import CombinedBatch, MemberWeights, arc_shares
from crossarc.trees import log_partitions
from oracles import all_trees
from trained import DEV, TEST, TRAIN, trained

pytestmark = pytest.mark.slow


def log_loss(parser, weights):
    """-log p of the gold trees of dev."""
    scored = CombinedBatch([member.scored(DEV, Constraints()) for member in parser.members], weights)
    log_p = 0.0
    for b, sentence in enumerate(DEV):
        potentials = scored.potentials[b]
        log_p += potentials[sentence.heads[1:], np.arange(1, len(sentence) + 1)].sum()
    return float(np.sum(log_partitions(scored.potentials, **scored.shape)) - log_p)


def test_weights_are_the_best_for_dev():
    parser = trained("combined")
    best = log_loss(parser, parser.weights)
    for arcs in ((1.0, 0.0), (0.0, 1.0), (0.5, 0.5), (parser.weights.arcs[0] + 0.05, parser.weights.arcs[1])):
        assert best <= log_loss(parser, MemberWeights(arcs, parser.weights.labels)) + 1e-3


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
        ({"weights": {"arcs": [1.0], "labels": [1.0, 1.0]}}, "other numbers of weights"),
        ({"members": [{"system": "generative"}]}, "of system generative among several"),
    ],
)
def test_models_that_do_not_fit_together_are_refused(tmp_path, change, problem):
    trained("combined").save(tmp_path / "my.crossarc")
    contents = read_model(tmp_path / "my.crossarc").components["parser"]
    changed = contents._replace(header={**contents.header, **change})
    write_model(tmp_path / "changed", {"parser": changed})
    with pytest.raises(ModelError, match=problem):
        load(tmp_path / "changed")
