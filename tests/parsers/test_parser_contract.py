"""The contract of every parser: it learns, parses, survives its file, and does what it declares or refuses it.

The systems and the wrappers are those of the registry, the configurations those of ``trained.py``: a new one cannot be
forgotten, nor can a capability.
"""

from __future__ import annotations

import contextlib
import itertools
import pickle

import numpy as np
import pytest

from crossarc.core import Constraints, CrossarcError, InputError, NoTreeError, Sentence, UnsupportedConstraint
from crossarc.evaluation import evaluate
from crossarc.models import Contents, ModelError, describe_model, read_model, write_model
from crossarc.parsers import SYSTEMS, Capability, Parsed, ParseOptions, UnsupportedOption, load, train
from crossarc.parsers.registry import KNOWN, system_of
from crossarc.trees import is_projective, is_tree
from crossarc.trees.shape import degree
from trained import AROUND, CONFIGS, TEST, TRAIN, Interrupting, capabilities_of, learnt, names_of, system_name, trained

# What each system and wrapper reaches at least on the treebank of the tests: UAS, LAS, recall of crossing arcs
REACHED = {
    "spanning-tree": (0.8, 0.75, 0.3),
    "neural": (0.75, 0.7, 0.1),
    "combined": (0.8, 0.75, 0.3),
    "covington": (0.75, 0.7, 0.1),
    "graph": (0.8, 0.75, 0.3),
    "ilp": (0.75, 0.7, 0.1),
    "generative": (0.6, 0.5, -1.0),
    "pseudo-projective": (0.8, 0.75, 0.05),  # a projective parser has 0: so few trees teach few encoded labels
    "stacked": (0.8, 0.75, 0.3),
}
WITH_TREES = [param for param in names_of() if param.values[0] != "generative, em"]
NO_CONSTRAINTS = "pseudo-projective"  # its arcs are known after parsing only
SHORT = [sentence for sentence in TEST if len(sentence) < 12][:10]


@pytest.fixture(params=WITH_TREES)
def parser(request):
    return trained(request.param)


@pytest.fixture(params=names_of())
def any_parser(request):
    return trained(request.param)


@pytest.fixture(params=[param for param in names_of() if param.values[0] != NO_CONSTRAINTS])
def constrained(request):
    return trained(request.param)


def test_every_system_and_wrapper_is_tested():
    assert set(map(system_name, CONFIGS)) == set(REACHED) == set(KNOWN)


def test_every_capability_is_tested():
    assert set(Capability) == set(OPTIONS) | TESTED_BELOW
    assert set(Capability) == set().union(*map(capabilities_of, CONFIGS))


def test_it_learns(parser):
    uas, las, crossing = REACHED[parser.system]
    found = evaluate(TEST, parser.trees(TEST))
    assert found.all_words.uas.f1 > uas
    assert found.all_words.las.f1 > las
    assert parser.dev.las > las
    assert found.nonprojective_recall.recall > crossing


@pytest.mark.parametrize("name", [param for param in names_of() if param.values[0] not in AROUND])
def test_its_configuration_is_what_was_asked_for(name):
    config = trained(name).config
    for field, value in vars(CONFIGS[name]).items():
        assert value is None or getattr(config, field) == value
    assert None not in (getattr(config, name, False) for name in ("single_root", "projective"))


@pytest.mark.parametrize("name", names_of())
def test_training_repeats_for_a_seed(name, tmp_path):
    trained(name).save(tmp_path / "first")
    learnt(name).save(tmp_path / "second")
    assert (tmp_path / "first").read_bytes() == (tmp_path / "second").read_bytes()


def test_a_sentence_is_parsed_the_same_in_any_company(any_parser):
    together = list(any_parser.trees(TEST))
    assert [any_parser.parse_sentence(sentence) for sentence in reversed(TEST)][::-1] == together


def test_only_head_and_label_change(any_parser):
    graphs = Capability.GRAPHS in any_parser.capabilities
    for before, after in zip(TEST, any_parser.trees(TEST), strict=True):
        deps = before.deps if graphs else after.deps
        assert after.with_columns(head=before.head, deprel=before.deprel, deps=deps) == before


def test_missing_annotation_and_no_words_are_fine(any_parser):
    bare = [Sentence.of(sentence.form) for sentence in TEST[:5]] + [Sentence.of([])]
    assert all(len(parsed) == len(sentence) for parsed, sentence in zip(any_parser.trees(bare), bare, strict=True))


def test_the_file_gives_the_same_parser(any_parser, tmp_path):
    path = tmp_path / "my.crossarc"
    any_parser.save(path)
    loaded = load(path)
    assert list(loaded.trees(TEST)) == list(any_parser.trees(TEST))
    assert (type(loaded), loaded.config, loaded.labels) == (type(any_parser), any_parser.config, any_parser.labels)
    assert (loaded.dev, loaded.treebank) == (any_parser.dev, any_parser.treebank)
    assert describe_model(path)["components"]["parser"]["system"] == any_parser.system
    assert len(repr(loaded)) < 200


def test_broken_model_files_say_what_is_wrong(any_parser, tmp_path):
    path = tmp_path / "my.crossarc"
    any_parser.save(path)
    path.write_bytes(path.read_bytes()[:1000])
    with pytest.raises(ModelError, match="truncated"):
        load(path)
    path.write_text("# sent_id = 1")
    with pytest.raises(ModelError, match="not a model file"):
        load(path)
    with pytest.raises(ModelError, match="no such file"):
        load(tmp_path / "nowhere")


def test_a_header_that_lacks_something_gives_one_error(any_parser, tmp_path):
    path = tmp_path / "my.crossarc"
    any_parser.save(path)
    header, tensors = read_model(path).components["parser"]
    refused = set()
    for name in header:
        write_model(path, {"parser": Contents({own: header[own] for own in header if own != name}, tensors)})
        with contextlib.suppress(ModelError):
            load(path)
            continue
        refused.add(name)
    assert {"system", "config"} <= refused


def test_required_and_forbidden_arcs_are_honoured(constrained):
    sentence = next(s for s in TEST if len(s) == 8)
    heads = constrained.parse_sentence(sentence).heads
    for m in range(1, len(heads)):
        without = constrained.parse_sentence(sentence, Constraints(forbidden_arcs=frozenset({(int(heads[m]), m)})))
        assert without.heads[m] != heads[m]
        for other in range(len(heads)):
            if other != m:
                try:
                    required = constrained.parse_sentence(sentence, Constraints(required_arcs=frozenset({(other, m)})))
                except NoTreeError:  # where arcs must not cross, some cannot be had
                    assert constrained.config.projective
                    continue
                assert required.heads[m] == other
                assert is_tree(required.heads)


@pytest.mark.parametrize("name", [param for param in WITH_TREES if param.values[0] != NO_CONSTRAINTS])
def test_labels_can_be_required_and_forbidden(name):
    parser, sentence = trained(name), TEST[0]
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


@pytest.mark.slow
def test_projective_can_be_asked_for(parser):
    crossing = [s for s in TEST if not is_projective(parser.parse_sentence(s).heads)]
    assert crossing or parser.config.projective
    for sentence in crossing:
        assert is_projective(parser.parse_sentence(sentence, Constraints(projective=True)).heads)


def test_constraints_that_cannot_be_honoured_are_refused():
    for constraints in (
        Constraints(required_arcs=frozenset({(0, 1)})),
        Constraints(forbidden_labels=frozenset({(1, 0)})),
        Constraints(max_degree=1),
    ):
        with pytest.raises(UnsupportedConstraint):
            trained(NO_CONSTRAINTS).parse_sentence(TEST[0], constraints)


def test_a_single_root_can_be_asked_for(any_parser):
    for sentence in SHORT:
        tree = any_parser.parse_sentence(sentence, Constraints(single_root=True))
        assert tree.head.count("0") == 1


def test_limits_on_children_are_honoured_or_refused(any_parser):
    limits = Constraints(max_children={1: 0})
    if Capability.MAX_CHILDREN in any_parser.capabilities:
        assert 1 not in any_parser.parse_sentence(TEST[0], limits).heads
    else:
        with pytest.raises(UnsupportedConstraint):
            any_parser.parse_sentence(TEST[0], limits)


def test_impossible_constraints_are_refused(constrained):
    everything = itertools.product(range(len(TEST[0]) + 1), [1])
    impossible = frozenset((h, m) for h, m in everything if h != m)
    for constraints in (
        Constraints(forbidden_arcs=impossible),
        Constraints(required_arcs=frozenset({(1, 2), (2, 1)})),
        Constraints(required_arcs=frozenset({(1, 3), (2, 3)})),
    ):
        with pytest.raises(NoTreeError):
            constrained.parse_sentence(TEST[0], constraints)
        (parsed,) = constrained.parse([TEST[0]], ParseOptions(constraints=constraints))
        assert parsed.sentence == TEST[0]
        assert isinstance(parsed.error, InputError)
    for arc in ((99, 1), (1, 0), (-1, 2), (2, 2)):
        with pytest.raises(ValueError, match="arc"):
            constrained.parse_sentence(TEST[0], Constraints(required_arcs=frozenset({arc})))


class NoRules:
    """A source of rules without any."""

    def rules_for(self, sentence, labels):
        return []


OPTIONS = {
    Capability.K_BEST: ParseOptions(k=3),
    Capability.PROBABILITIES: ParseOptions(confidence=True),
    Capability.DISTRIBUTION: ParseOptions(decode="min-risk"),
    Capability.RULES: ParseOptions(rules=NoRules()),
    Capability.PROGRAMS: ParseOptions(exact=False),
    Capability.MAX_DEGREE: ParseOptions(max_degree=1),
    Capability.GRAPHS: ParseOptions(enhanced=True),
}


TESTED_BELOW = {
    Capability.MAX_CHILDREN,
    Capability.LANGUAGE_MODEL,
    Capability.EXPLANATIONS,
    Capability.EPOCHS,
    Capability.PARALLEL_TRAINING,
}
COMPILES_MUCH = {Capability.RULES, Capability.PROGRAMS}
ASKED = [pytest.param(c, marks=pytest.mark.slow if c in COMPILES_MUCH else ()) for c in OPTIONS]


@pytest.mark.parametrize("capability", ASKED)
def test_what_a_parser_cannot_do_is_refused_and_what_it_can_is_done(any_parser, capability):
    options = OPTIONS[capability]
    if capability not in any_parser.capabilities:
        inner = any_parser.parser if any_parser.system == "stacked" else any_parser  # what it can do is up to that one
        with pytest.raises(UnsupportedOption, match=inner.system):
            next(any_parser.parse(SHORT, options))
        return
    found = list(any_parser.parse(SHORT, options))
    assert len(found) == len(SHORT)
    for sentence, parsed in zip(SHORT, found, strict=True):
        assert isinstance(parsed, Parsed)
        assert parsed.error is None
        assert parsed.sentence.form == sentence.form
        assert is_tree(parsed.sentence.heads)


@pytest.mark.parametrize("name", names_of(Capability.K_BEST))
def test_k_best_trees_are_distinct_and_begin_with_the_best(name):
    parser = trained(name)
    for parsed in parser.parse(SHORT, ParseOptions(k=4)):
        heads = [tree.sentence.head for tree in parsed.trees]
        assert len(set(heads)) == len(heads) <= 4
        assert parsed.trees[0].sentence == parsed.sentence
        scores = [tree.score for tree in parsed.trees]
        assert scores == sorted(scores, reverse=True)


@pytest.mark.parametrize("name", names_of(Capability.PROBABILITIES))
def test_probabilities_are_probabilities(name):
    parser = trained(name)
    best = list(parser.trees(SHORT))
    for tree, parsed in zip(best, parser.parse(SHORT, ParseOptions(confidence=True)), strict=True):
        sure = parsed.confidence
        assert parsed.sentence == tree
        assert (sure.arcs[1:] >= 0).all()
        assert (sure.arcs[1:] <= 1 + 1e-9).all()
        assert (sure.labels[1:] <= sure.arcs[1:] + 1e-9).all()


@pytest.mark.parametrize("name", names_of(Capability.PROBABILITIES))
def test_probabilities_under_constraints(name):
    """A required arc is certain."""
    parser = trained(name)
    required = Constraints(required_arcs=frozenset({(2, 1)}))
    for parsed in parser.parse([s for s in SHORT if len(s) > 2], ParseOptions(confidence=True, constraints=required)):
        assert parsed.confidence.arcs[1] == pytest.approx(1.0)


@pytest.mark.parametrize("name", names_of(Capability.DISTRIBUTION))
def test_marginals_of_each_word_sum_to_one(name):
    for parsed in trained(name).parse(SHORT, ParseOptions(confidence=True)):
        assert np.allclose(parsed.confidence.marginals[:, 1:].sum(axis=0), 1.0)
        assert parsed.confidence.entropy >= 0
        assert parsed.confidence.log_probability <= 1e-9
        assert parsed.confidence.margin >= -1e-9


@pytest.mark.parametrize("name", names_of(Capability.MAX_DEGREE))
@pytest.mark.parametrize("limit", [0, 1])
def test_degrees_are_kept(name, limit):
    for parsed in trained(name).parse(TEST, ParseOptions(max_degree=limit)):
        assert degree(parsed.sentence.heads) <= limit


@pytest.mark.parametrize("name", names_of(Capability.GRAPHS))
def test_graphs_have_the_arcs_of_the_tree_and_others(name):
    found = [parsed.sentence for parsed in trained(name).parse(TEST, ParseOptions(enhanced=True))]
    arcs = [{arc.split(":", 1)[0] for arc in deps.split("|")} for sentence in found for deps in sentence.deps]
    heads = [head for sentence in found for head in sentence.head]
    assert all(head in own for head, own in zip(heads, arcs, strict=True))
    assert max(map(len, arcs)) > 1


@pytest.mark.parametrize("name", names_of(Capability.LANGUAGE_MODEL))
def test_sentences_have_probabilities(name):
    found = list(trained(name).log_probabilities(TEST))
    assert len(found) == len(TEST)
    assert all(-np.inf < log_p < 0 for log_p in found)


@pytest.mark.parametrize("name", names_of(Capability.PARALLEL_TRAINING))
def test_two_threads_learn_the_same(name, tmp_path):
    trained(name).save(tmp_path / "first")
    learnt(name, jobs=2).save(tmp_path / "second")
    assert (tmp_path / "first").read_bytes() == (tmp_path / "second").read_bytes()


@pytest.mark.parametrize("name", names_of(Capability.EXPLANATIONS))
def test_arcs_are_explained(name):
    parser = trained(name)
    if name == "covington, svm":  # weighs no templates
        with pytest.raises(CrossarcError, match="support vector machines"):
            parser.explain(SHORT[0], 0, 1)
        return
    tree = parser.parse_sentence(SHORT[0])
    for word, head in enumerate(tree.heads[1:].tolist(), 1):
        reasons = parser.explain(tree, head, word)
        assert any(reason.weight != 0 for reason in reasons)
        weights = [reason.weight for reason in reasons]
        assert weights == sorted(weights, reverse=True)


def test_long_sentences_stay_as_they_are(any_parser):
    longest = max(map(len, TEST))
    found = list(any_parser.parse(TEST, ParseOptions(max_length=longest - 1)))
    for sentence, parsed in zip(TEST, found, strict=True):
        assert (len(sentence) == longest) == bool(parsed.notes)
        if parsed.notes:
            assert parsed.sentence == sentence


def test_options_go_to_other_processes():
    for options in (ParseOptions(k=2), ParseOptions(constraints=Constraints(projective=True))):
        assert pickle.loads(pickle.dumps(options)) == options


@pytest.mark.parametrize("system", SYSTEMS)
def test_an_empty_treebank_is_refused(system):
    with pytest.raises(CrossarcError, match="empty treebank"):
        train([], SYSTEMS[system].config())


EPOCHS = [param for param in names_of(Capability.EPOCHS) if param.values[0] not in ("covington, svm", "generative")]
STAGES = {
    "spanning-tree": "heads",
    "neural": "network",
    "ilp": "heads",
    "covington": "links",
    "graph": "graphs",
    "generative": "em",
}


@pytest.mark.parametrize("name", EPOCHS)
def test_an_interrupted_training_keeps_the_best_and_goes_on_to_the_same_model(name, tmp_path):
    config, checkpoint = CONFIGS[name], tmp_path / "state"
    listener = Interrupting(STAGES[system_of(config).name], 2)
    if config.epochs > 2:
        kept = learnt(name, listener=listener, checkpoint=checkpoint)
        assert list(kept.trees(SHORT))
    else:
        listener.when = (listener.when[0], 1)
        learnt(name, listener=listener, checkpoint=checkpoint)
    with pytest.raises(ModelError, match="interrupted training"):
        load(checkpoint)
    with pytest.raises(ModelError, match="another treebank"):
        learnt(name, TRAIN[:-1], checkpoint=checkpoint, resume=True)
    resumed = learnt(name, checkpoint=checkpoint, resume=True)
    resumed.save(tmp_path / "resumed")
    trained(name).save(tmp_path / "at once")
    assert (tmp_path / "resumed").read_bytes() == (tmp_path / "at once").read_bytes()


@pytest.mark.parametrize("name", EPOCHS[:1])
def test_there_must_be_something_to_resume(name, tmp_path):
    with pytest.raises(ModelError, match="nothing to resume"):
        learnt(name, checkpoint=tmp_path / "nowhere", resume=True)
