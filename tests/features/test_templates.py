"""Feature templates: what can be written, and what it means."""

from __future__ import annotations

import numpy as np
import pytest

from crossarc.core import InputError, Sentence
from crossarc.features._hashing import sentence_attributes
from crossarc.features.attributes import attributes_of
from crossarc.features.templates import load_templates, parse_templates
from crossarc.scorers.linear._features import (
    arc_indices,
    encode,
    most_features,
)

SHIFT = np.uint64(64 - 22)
SENTENCE = Sentence.of(["the", "old", "man", "the", "boats"], upos=["DET", "ADJ", "NOUN", "DET", "NOUN"])


def indices(text: str, h: int, m: int, sentence: Sentence = SENTENCE) -> list[int]:
    with np.errstate(over="ignore"):  # as hashes do
        encoded = encode(sentence_attributes(attributes_of([sentence]), 0), parse_templates(text).compiled)
        out = np.empty(most_features(encoded), dtype=np.int64)
        return out[: arc_indices(encoded, h, m, SHIFT, out)].tolist()


def test_a_set_without_templates_of_arcs_is_refused():
    with pytest.raises(InputError, match=r"t.txt: no templates for \[arc\]"):
        parse_templates("# nothing", "t.txt")


def test_our_sets_and_files(tmp_path):
    assert load_templates("default").features.templates["sibling"]
    path = tmp_path / "mine.txt"
    path.write_text("[arc]\nh.upos m.upos")
    assert [t.text for t in load_templates(str(path)).features.templates["arc"]] == ["h.upos m.upos"]
    with pytest.raises(InputError, match=r"a feature set of ours .*default"):
        load_templates(str(tmp_path / "nowhere"))


def test_a_feature_depends_on_what_its_template_names():
    same_tags = "[arc]\nh.upos m.upos"
    assert indices(same_tags, 3, 1) == indices(same_tags, 3, 1)
    assert indices(same_tags, 5, 4)[0] == indices(same_tags, 3, 1)[0]  # NOUN -> DET, both to the left
    assert indices(same_tags, 5, 4)[1] != indices(same_tags, 3, 1)[1]  # but at other distances
    assert indices(same_tags, 3, 4)[0] != indices(same_tags, 3, 1)[0]  # to the right
    with_neighbour = "[arc]\nh.upos m.upos m-1.upos"
    assert indices(with_neighbour, 5, 4)[0] != indices(with_neighbour, 3, 1)[0]


def test_between_has_each_tag_once():
    text = "[arc]\nh.upos\n[between]\nh.upos b.upos m.upos"
    assert len(indices(text, 0, 1)) == 2
    assert len(indices(text, 0, 5)) == 2 + 3  # DET, ADJ, NOUN
    assert len(indices(text, 0, 5)) == len(set(indices(text, 0, 5)))


def test_pairs_of_single_features():
    sentence = Sentence.of(["a", "b"], upos=["X", "Y"], feats=["Case=Nom|Number=Sing", "Case=Nom"])
    assert len(indices("[arc]\nh.upos\n[pairs]", 1, 2, sentence)) == 2 + 4 * 3
