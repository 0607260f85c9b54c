"""What features see of a guide."""

from __future__ import annotations

import numpy as np
import pytest

from crossarc.core import InputError, Sentence
from crossarc.features.attributes import ATTRIBUTES, PADDING, attributes_of
from crossarc.features.guides import GUIDE_ATTRIBUTES, NO_GUIDE, guide_of, with_guide
from crossarc.features.hashing import hash_string
from crossarc.features.templates import load_templates
from crossarc.testing import random_treebank

TREES = [sentence for sentence in random_treebank(20, seed=3) if len(sentence) > 2]


def words_of(batch, b, sentence):
    """The rows of the nodes of a sentence."""
    first = batch.starts[b] + b * (2 * PADDING + 1) + PADDING
    return batch.words[first : first + len(sentence) + 1]


def test_misc_keeps_all_else_and_one_guide():
    sentence = Sentence.of(["a", "b"], misc=["SpaceAfter=No", "_"])
    once = with_guide(sentence, sentence.with_columns(head=["2", "0"], deprel=["x", "root"]))
    assert once.misc == ("SpaceAfter=No|GuideHead=2|GuideRel=x", "GuideHead=0|GuideRel=root")
    again = with_guide(once, sentence.with_columns(head=["0", "1"], deprel=["root", "y"]))
    assert again.misc == ("SpaceAfter=No|GuideHead=0|GuideRel=root", "GuideHead=1|GuideRel=y")


@pytest.mark.parametrize("head", ["7", "x", "-1", "", "²", "9" * 5000])
def test_what_is_no_head_is_unknown(head):
    assert guide_of(Sentence.of(["a", "b"], misc=[f"GuideHead={head}", "GuideHead=1"])).heads == [-1, -1, 1]
    assert guide_of(Sentence.of(["a", "b"], misc=["Head=1", "_"])) is None


def test_the_guide_is_in_the_attributes_of_its_words_alone():
    """Sentences without a guide, and other attributes of those with one, are as ever."""
    mixed = [with_guide(tree, tree) if i % 2 else tree for i, tree in enumerate(TREES)]
    plain, batch = attributes_of(TREES), attributes_of(mixed)
    first = len(ATTRIBUTES) - len(GUIDE_ATTRIBUTES)
    assert (plain.words[:, :first] == batch.words[:, :first]).all()
    nothing = [hash_string(f"{name}={value}") for name, value in zip(GUIDE_ATTRIBUTES, NO_GUIDE, strict=True)]
    for b, tree in enumerate(TREES):
        own = words_of(batch, b, tree)[:, first:]
        if b % 2 == 0:
            assert (own == np.array(nothing, dtype=np.uint64)).all()
            continue
        for word, (head, label) in enumerate(zip(tree.heads[1:].tolist(), tree.deprel, strict=True), 1):
            assert own[word][0] == hash_string(f"place={word % 32}")
            assert own[word][1] == hash_string(f"guide={head % 32 if head else '<root>'}")
            assert own[word][2] == hash_string(f"guiderel={label}")


def test_sets_can_be_joined(tmp_path):
    def arcs(name):
        return {template.text for template in load_templates(name).features.templates["arc"]}

    assert arcs("default+guide") == arcs("default") | arcs("guide")
    assert "h.place m.guide" in arcs("mcd2005+guide")
    (tmp_path / "a+b.txt").write_text("[arc]\nh.upos\n")
    assert len(load_templates(str(tmp_path / "a+b.txt")).features.templates["arc"]) == 1
    with pytest.raises(InputError, match="nonsense"):
        load_templates("default+nonsense")
