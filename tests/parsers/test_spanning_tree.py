"""The contract of a parser: it learns, parses, survives its file, honours constraints or refuses them."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from crossarc.core import Constraints, CrossarcError, NoTreeError, Sentence, UnsupportedConstraint
from crossarc.evaluation import evaluate
from crossarc.parsers import ModelError, SpanningTreeConfig, SpanningTreeParser, read_header, train_spanning_tree
from crossarc.testing import random_treebank

TREEBANK = list(random_treebank(260, seed=11, nonprojectivity=0.3))
TRAIN, DEV, TEST = TREEBANK[:200], TREEBANK[200:220], TREEBANK[220:]


@pytest.fixture(scope="module", params=["1", "high"])
def parser(request) -> SpanningTreeParser:
    config = SpanningTreeConfig(order=request.param, epochs=3, hash_bits=18)
    return train_spanning_tree(TRAIN, config, dev=DEV)


def test_it_learns(parser):
    scores = evaluate(TEST, parser.parse(TEST)).all_words
    assert scores.uas.f1 > 0.8
    assert scores.las.f1 > 0.75
    assert parser.dev is not None
    assert parser.dev.las > 0.75


def test_it_finds_crossing_arcs(parser):
    assert parser.config.projective is False
    assert evaluate(TEST, parser.parse(TEST)).nonprojective_recall.recall > 0.3


def test_training_repeats_for_a_seed(parser):
    again = train_spanning_tree(TRAIN, parser.config, dev=DEV)
    np.testing.assert_array_equal(again.heads_model.weights, parser.heads_model.weights)
    assert list(again.parse(TEST)) == list(parser.parse(TEST))


def test_a_sentence_is_parsed_the_same_in_any_company(parser):
    together = list(parser.parse(TEST))
    assert [parser.parse_sentence(sentence) for sentence in reversed(TEST)][::-1] == together


def test_only_head_and_label_change(parser):
    for before, after in zip(TEST, parser.parse(TEST), strict=True):
        assert after.with_columns(head=before.head, deprel=before.deprel) == before


def test_missing_annotation_is_fine(parser):
    bare = [Sentence.of(sentence.form) for sentence in TEST[:5]]
    assert all(len(parsed) == len(sentence) for parsed, sentence in zip(parser.parse(bare), bare, strict=True))


def test_the_file_gives_the_same_parser(parser, tmp_path):
    path = tmp_path / "my.crossarc"
    parser.save(path)
    loaded = SpanningTreeParser.load(path)
    assert list(loaded.parse(TEST)) == list(parser.parse(TEST))
    assert loaded.config == parser.config
    assert read_header(path)["system"] == "spanning-tree"


def test_broken_model_files_say_what_is_wrong(parser, tmp_path):
    path = tmp_path / "my.crossarc"
    parser.save(path)
    path.write_bytes(path.read_bytes()[:1000])
    with pytest.raises(ModelError, match="truncated"):
        SpanningTreeParser.load(path)
    path.write_text("# sent_id = 1")
    with pytest.raises(ModelError, match="not a model file"):
        SpanningTreeParser.load(path)
    with pytest.raises(ModelError, match="no such file"):
        SpanningTreeParser.load(tmp_path / "nowhere")


def test_required_and_forbidden_arcs_are_honoured(parser):
    sentence = next(s for s in TEST if len(s) == 8)
    heads = parser.parse_sentence(sentence).heads
    root = int(np.flatnonzero(heads == 0)[0])
    for m in range(1, len(heads)):
        without = parser.parse_sentence(sentence, Constraints(forbidden_arcs=frozenset({(int(heads[m]), m)})))
        assert without.heads[m] != heads[m]
        if m != root:
            other = next(h for h in range(1, len(heads)) if h not in (m, heads[m]))
            required = parser.parse_sentence(sentence, Constraints(required_arcs=frozenset({(other, m)})))
            assert required.heads[m] == other


def test_projective_can_be_asked_for(parser):
    from crossarc.trees import is_projective

    crossing = [s for s in TEST if not is_projective(parser.parse_sentence(s).heads)]
    assert crossing
    for sentence in crossing:
        assert is_projective(parser.parse_sentence(sentence, Constraints(projective=True)).heads)


def test_constraints_that_cannot_be_honoured_are_refused(parser):
    with pytest.raises(UnsupportedConstraint):
        parser.parse_sentence(TEST[0], Constraints(max_children={1: 0}))
    everything = itertools.product(range(len(TEST[0]) + 1), [1])
    impossible = frozenset((h, m) for h, m in everything if h != m)
    with pytest.raises(NoTreeError):
        parser.parse_sentence(TEST[0], Constraints(forbidden_arcs=impossible))


def test_an_empty_treebank_is_refused():
    with pytest.raises(CrossarcError, match="empty treebank"):
        train_spanning_tree([])


def test_an_interrupt_keeps_the_best_epoch_so_far():
    def interrupt(epoch):
        if (epoch.stage, epoch.epoch) == ("heads", 2):
            raise KeyboardInterrupt

    config = SpanningTreeConfig(order="1", epochs=9, hash_bits=18)
    interrupted = train_spanning_tree(TRAIN, config, dev=DEV, report=interrupt)
    assert interrupted.dev is not None
    assert interrupted.dev.las > 0.5
    with pytest.raises(KeyboardInterrupt):
        train_spanning_tree(TRAIN, config, report=lambda epoch: interrupt(epoch._replace(stage="heads")))
