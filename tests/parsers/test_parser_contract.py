"""The contract of every parser: it learns, parses, survives its file, honours constraints or refuses them.

A new system is one more configuration in ``trained.py``.
"""

from __future__ import annotations

import itertools

import pytest

from crossarc.core import Constraints, CrossarcError, NoTreeError, Sentence, UnsupportedConstraint
from crossarc.evaluation import evaluate
from crossarc.parsers import CovingtonConfig, GraphConfig, ModelError, SpanningTreeConfig, load, read_header, train
from crossarc.trees import is_projective, is_tree
from trained import DEV, TEST, TRAIN, Interrupting, names_of, trained

# What each system reaches at least on the treebank of the tests: UAS, LAS, recall of crossing arcs
REACHED = {SpanningTreeConfig: (0.8, 0.75, 0.3), CovingtonConfig: (0.75, 0.7, 0.1), GraphConfig: (0.8, 0.75, 0.3)}
SYSTEMS = {SpanningTreeConfig: "spanning-tree", CovingtonConfig: "covington", GraphConfig: "graph"}


@pytest.fixture(params=names_of(object))
def parser(request):
    return trained(request.param)


def test_it_learns(parser):
    uas, las, crossing = REACHED[type(parser.config)]
    found = evaluate(TEST, parser.parse(TEST))
    assert found.all_words.uas.f1 > uas
    assert found.all_words.las.f1 > las
    assert parser.dev.las > las
    assert parser.config.projective is False
    assert found.nonprojective_recall.recall > crossing


def test_training_repeats_for_a_seed(parser, tmp_path):
    parser.save(tmp_path / "first")
    train(TRAIN, parser.config, dev=DEV).save(tmp_path / "second")
    assert (tmp_path / "first").read_bytes() == (tmp_path / "second").read_bytes()


def test_a_sentence_is_parsed_the_same_in_any_company(parser):
    together = list(parser.parse(TEST))
    assert [parser.parse_sentence(sentence) for sentence in reversed(TEST)][::-1] == together


def test_only_head_and_label_change(parser):
    graph = isinstance(parser.config, GraphConfig)
    for before, after in zip(TEST, parser.parse(TEST), strict=True):
        deps = before.deps if graph else after.deps
        assert after.with_columns(head=before.head, deprel=before.deprel, deps=deps) == before


def test_missing_annotation_and_no_words_are_fine(parser):
    bare = [Sentence.of(sentence.form) for sentence in TEST[:5]] + [Sentence.of([])]
    assert all(len(parsed) == len(sentence) for parsed, sentence in zip(parser.parse(bare), bare, strict=True))


def test_the_file_gives_the_same_parser(parser, tmp_path):
    path = tmp_path / "my.crossarc"
    parser.save(path)
    loaded = load(path)
    assert list(loaded.parse(TEST)) == list(parser.parse(TEST))
    assert (type(loaded), loaded.config, loaded.labels) == (type(parser), parser.config, parser.labels)
    assert (loaded.dev, loaded.treebank) == (parser.dev, parser.treebank)
    assert read_header(path)["system"] == SYSTEMS[type(parser.config)]


def test_broken_model_files_say_what_is_wrong(parser, tmp_path):
    path = tmp_path / "my.crossarc"
    parser.save(path)
    path.write_bytes(path.read_bytes()[:1000])
    with pytest.raises(ModelError, match="truncated"):
        type(parser).load(path)
    path.write_text("# sent_id = 1")
    with pytest.raises(ModelError, match="not a model file"):
        type(parser).load(path)
    with pytest.raises(ModelError, match="no such file"):
        type(parser).load(tmp_path / "nowhere")


def test_required_and_forbidden_arcs_are_honoured(parser):
    sentence = next(s for s in TEST if len(s) == 8)
    heads = parser.parse_sentence(sentence).heads
    for m in range(1, len(heads)):
        without = parser.parse_sentence(sentence, Constraints(forbidden_arcs=frozenset({(int(heads[m]), m)})))
        assert without.heads[m] != heads[m]
        for other in range(len(heads)):
            if other != m:
                required = parser.parse_sentence(sentence, Constraints(required_arcs=frozenset({(other, m)})))
                assert required.heads[m] == other
                assert is_tree(required.heads)


def test_labels_can_be_required_and_forbidden(parser):
    sentence = TEST[0]
    labels = parser.parse_sentence(sentence).deprel
    for word, label in enumerate(labels, 1):
        number = parser.labels.index(label)
        without = parser.parse_sentence(sentence, Constraints(forbidden_labels=frozenset({(word, number)})))
        assert without.deprel[word - 1] != label
        other = (number + 1) % len(parser.labels)
        required = parser.parse_sentence(sentence, Constraints(required_labels={word: other}))
        assert required.deprel[word - 1] == parser.labels[other]
    every = frozenset((1, label) for label in range(len(parser.labels)))
    with pytest.raises(NoTreeError, match="no label for word 1"):
        parser.parse_sentence(sentence, Constraints(forbidden_labels=every))


def test_projective_can_be_asked_for(parser):
    crossing = [s for s in TEST if not is_projective(parser.parse_sentence(s).heads)]
    assert crossing
    for sentence in crossing:
        assert is_projective(parser.parse_sentence(sentence, Constraints(projective=True)).heads)


def test_constraints_that_cannot_be_honoured_are_refused(parser):
    with pytest.raises(UnsupportedConstraint):
        parser.parse_sentence(TEST[0], Constraints(max_children={1: 0}))
    everything = itertools.product(range(len(TEST[0]) + 1), [1])
    impossible = frozenset((h, m) for h, m in everything if h != m)
    for constraints in (
        Constraints(forbidden_arcs=impossible),
        Constraints(required_arcs=frozenset({(1, 2), (2, 1)})),
        Constraints(required_arcs=frozenset({(1, 3), (2, 3)})),
        Constraints(required_arcs=frozenset({(99, 1)})),
        Constraints(required_arcs=frozenset({(1, 0)})),
    ):
        with pytest.raises(NoTreeError):
            parser.parse_sentence(TEST[0], constraints)


@pytest.mark.parametrize("config", SYSTEMS)
def test_an_empty_treebank_is_refused(config):
    with pytest.raises(CrossarcError, match="empty treebank"):
        train([], config())


@pytest.mark.parametrize(
    ("config", "stage"),
    [
        (SpanningTreeConfig(order="1", epochs=9, hash_bits=18), "heads"),
        (CovingtonConfig(epochs=9, hash_bits=18), "links"),
        pytest.param(GraphConfig(epochs=3, hash_bits=18), "graphs", marks=pytest.mark.slow),
    ],
)
def test_an_interrupt_keeps_the_best_epoch_so_far(config, stage):
    interrupted = train(TRAIN, config, dev=DEV, listener=Interrupting(stage, 2))
    assert interrupted.dev.las > 0.5
