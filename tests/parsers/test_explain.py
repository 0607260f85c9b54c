"""Reasons for arcs add up to what the parsers decide by."""

from __future__ import annotations

import numpy as np
import pytest

from crossarc.core import Constraints, CrossarcError
from crossarc.features._hashing import sentence_attributes
from crossarc.features.attributes import attributes_of
from crossarc.features.explain import Reason, by_template, sorted_reasons
from crossarc.features.templates import parse_templates
from crossarc.parsers import IlpConfig, train
from crossarc.parsers.covington import explain as covington
from crossarc.parsers.covington._parse import CHOSEN, OTHER
from crossarc.parsers.graph import explain as graph
from crossarc.parsers.graph._graph import extra_indices
from crossarc.parsers.graph._path import basic_tree, max_path_features
from crossarc.parsers.ilp import explain as ilp
from crossarc.parsers.linear.integer_program import solve_sentence
from crossarc.scorers.linear._features import encode, most_features
from trained import DEV, TEST, TRAIN, trained


def total(reasons: list[Reason], *parts: str) -> float:
    return sum(reason.weight for reason in reasons if not parts or reason.part in parts)


def test_reasons_are_by_template_best_first():
    templates = parse_templates("[arc]\nh.upos\n[arc without distance]\nm.upos").features.templates["arc"]
    weights = np.array([1.0, 2.0, 5.0], dtype=np.float32)
    assert by_template("arc", templates, weights) == [("arc", "h.upos", 3.0), ("arc", "m.upos", 5.0)]
    assert by_template("arc", (), weights[:0]) == []
    assert [r.weight for r in sorted_reasons([Reason("a", "b", -1.0), Reason("a", "c", 2.0)])] == [2.0, -1.0]


def test_reasons_for_a_link_are_those_that_the_parser_had():
    parser = trained("covington")
    for sentence in TEST[:4]:
        parsed = parser._link([sentence], *parser.without_constraints(), with_evidence=True)
        for m, h in enumerate(parsed.heads.tolist()):
            margin = parsed.evidence[m, CHOSEN] - parsed.evidence[m, OTHER]
            if m > 0 and margin > 0:  # others were attached in the end
                reasons = covington.explain(parser, sentence, h, m)
                assert total(reasons) == pytest.approx(margin, abs=1e-3)


@pytest.mark.slow
def test_support_vector_machines_have_no_reasons():
    with pytest.raises(CrossarcError, match="do not weigh"):
        covington.explain(trained("covington, svm"), TEST[0], 1, 2)


@pytest.mark.slow
@np.errstate(over="ignore")  # as hashes do
def test_reasons_for_extra_arcs_have_the_basic_tree():
    parser = trained("graph")
    for sentence in parser.trees(TEST[:4]):
        attributes = sentence_attributes(attributes_of([sentence]), 0)
        tree = parser.tree.best_trees(attributes_of([sentence]), Constraints())
        basic = basic_tree(attributes.words, parser.models.path, *tree)
        encoded = encode(attributes, parser.extras_model.templates)
        hashes = np.empty(max_path_features(parser.models.path), dtype=np.uint64)
        out = np.empty(most_features(encoded) + len(hashes), dtype=np.int64)
        for m, deps in enumerate(sentence.deps, 1):
            for h in (int(arc.partition(":")[0]) for arc in deps.split("|")):
                reasons = graph.explain(parser, sentence, h, m)
                assert "sibling" in {reason.part for reason in reasons}
                if sentence.heads[m] != h:
                    count = extra_indices(encoded, attributes.words, parser.models, basic, h, m, hashes, out)
                    expected = parser.extras_model.weights[out[:count]].sum()
                    assert total(reasons, "arc", "between", "pairs", "path") == pytest.approx(expected, abs=1e-3)


@pytest.mark.slow
def test_reasons_of_a_tree_sum_to_the_score_of_its_program():
    parts = "arc,sibling,grandparent,next-sibling,first-child,nonprojective"
    parser = train(TRAIN[:60], IlpConfig(epochs=1, hash_bits=18, parts=parts), dev=DEV[:5])
    for sentence in TEST[:3]:
        solved = solve_sentence(parser.linear, sentence, kinds=parser.config.kinds)
        reasons = [ilp.explain(parser, solved.sentence, int(h), m) for m, h in enumerate(solved.sentence.heads) if m]
        twice = sum(total(own, "any-sibling") for own in reasons) / 2  # both siblings have it
        assert sum(map(total, reasons)) - twice == pytest.approx(solved.solution.tree.score, abs=1e-2)
