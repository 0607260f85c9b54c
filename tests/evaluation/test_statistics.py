from __future__ import annotations

import itertools

import pytest

import crossarc
from crossarc.core import Sentence
from crossarc.evaluation import treebank_statistics


def test_counts_by_hand():
    projective = Sentence.of(["a", "b"], upos=["X", "Y"], feats=["Case=Nom|Number=Sing", "Case=Nom"], lemma=["a", "_"])
    crossing = Sentence.of(["a", "b", "c"], deps=["3:x", "0:root|1:y", "2:x|2:y"])
    statistics = treebank_statistics([projective.with_tree([-1, 0, 0]), crossing.with_tree([-1, 3, 0, 2])])
    assert statistics.as_dict() == {
        "words": 5,
        "sentences": 2,
        "words_per_sentence": 2.5,
        "has_lemmas": True,
        "upos_tags": 2,
        "xpos_tags": 0,
        "features": 2,
        "labels": 0,
        "nonprojective_arcs": 1,
        "nonprojective_arcs_percent": 20.0,
        "nonprojective_sentences": 1,
        "nonprojective_sentences_percent": 50.0,
        "degrees": {0: 1, 1: 1},
        "gap_degrees": {0: 1, 1: 1},
        "ill_nested": 0,
        "well_nested_percent": 100.0,
        "roots": {1: 1, 2: 1},
        "words_with_several_heads": 1,
        "words_with_several_heads_percent": 20.0,
        "multiword_tokens": 0,
        "empty_nodes": 0,
    }


PUBLISHED = {  # % non-projective arcs and sentences, labels: from the README beside the treebanks
    "English-EWT": (0.16, 2.08, 51),
    "Danish-DDT": (0.98, 15.36, 54),
    "Basque-BDT": (4.95, 33.74, 30),
    "Hungarian-Szeged": (1.51, 21.72, 51),
}


@pytest.mark.parametrize("name", PUBLISHED)
def test_real_treebanks(name, treebanks):
    parts = [crossarc.read(treebanks / name / f"{part}.conllu", trees=True) for part in ("train", "dev", "test")]
    statistics = treebank_statistics(itertools.chain(*parts)).as_dict()
    found = [statistics[f"nonprojective_{what}_percent"] for what in ("arcs", "sentences")]
    assert [*(round(share, 2) for share in found), statistics["labels"]] == list(PUBLISHED[name])
