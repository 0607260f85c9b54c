from __future__ import annotations

from collections import Counter
from itertools import islice

import numpy as np
import pytest
from scipy.stats import chisquare

import crossarc
import oracles
from crossarc.testing import random_tree, random_treebank
from crossarc.trees.shape import gap_degree, is_projective, is_tree, nonprojective_arcs

DIAL = (0.0, 0.05, 0.2, 0.5, 1.0)


@pytest.fixture(scope="module")
def by_dial():
    """The same 400 sentences at each position of the dial."""
    return {dial: list(random_treebank(400, seed=7, nonprojectivity=dial)) for dial in DIAL}


def arcs_by_words(sentence):
    """The labelled arcs as pairs of words, wherever they stand."""
    return Counter((w.form, w.deprel, w.head.form if w.head else "") for w in sentence)


def test_same_seed_same_treebank():
    assert list(random_treebank(50, seed=3)) == list(random_treebank(50, seed=3))
    assert list(random_treebank(50, seed=3)) != list(random_treebank(50, seed=4))


def test_a_larger_treebank_begins_with_the_smaller_one():
    assert list(islice(random_treebank(200, seed=3), 50)) == list(random_treebank(50, seed=3))


@pytest.mark.parametrize("dial", DIAL)
def test_every_sentence_is_a_tree_with_one_root(by_dial, dial):
    for sentence in by_dial[dial]:
        assert is_tree(sentence.heads)
        assert sentence.head.count("0") == 1
        assert [w.deprel == "root" for w in sentence] == [w.is_root for w in sentence]


@pytest.mark.parametrize("dial", DIAL)
def test_projective_if_and_only_if_the_dial_is_zero(by_dial, dial):
    assert all(is_projective(sentence.heads) for sentence in by_dial[dial]) == (dial == 0)


def test_the_dial_is_monotone(by_dial):
    arcs = [sum(nonprojective_arcs(s.heads).sum() for s in by_dial[dial]) for dial in DIAL]
    sentences = [sum(not is_projective(s.heads) for s in by_dial[dial]) for dial in DIAL]
    assert arcs == sorted(set(arcs))
    assert sentences == sorted(set(sentences))
    assert max(gap_degree(s.heads) for s in by_dial[1.0]) >= 2


def test_the_dial_only_moves_words(by_dial):
    for straight, moved in zip(by_dial[0.0], by_dial[1.0], strict=True):
        assert arcs_by_words(straight) == arcs_by_words(moved)


def test_lengths():
    lengths = [len(s) for s in random_treebank(1000, seed=1)]
    assert 8 < np.mean(lengths) < 14
    assert min(lengths) >= 3
    assert 25 < max(lengths) <= 40
    assert max(len(s) for s in random_treebank(300, seed=1, max_words=12)) == 12


def test_words_are_zipfian_and_ambiguous(by_dial):
    words = [w for sentence in by_dial[0.2] for w in sentence if w.upos == "NOUN"]
    (_, most), *rest = Counter(w.lemma for w in words).most_common()
    assert most > 0.03 * len(words)
    assert sum(count == 1 for _, count in rest) > 20
    assert len(Counter(w.lemma for w in words)) < 500
    parts_of_speech = Counter(form for form, _ in {(w.form, w.upos) for s in by_dial[0.2] for w in s})
    assert any(count > 1 for count in parts_of_speech.values())


def test_agreement(by_dial):
    agreeing = {
        "det": ("Case", "Gender", "Number"),
        "amod": ("Case", "Gender", "Number"),
        "nsubj": ("Number",),
    }
    for sentence in by_dial[1.0]:
        for word in sentence:
            head_feats = word.head.feats if word.head else {}
            if "Inf" in head_feats.values():
                continue
            for name in agreeing.get(word.deprel, ()):
                assert word.feats[name] == head_feats[name]


@pytest.mark.parametrize("dial", [0.0, 1.0])
def test_written_and_read_again(by_dial, dial, tmp_path):
    first, second = tmp_path / "first.conllu", tmp_path / "second.conllu"
    crossarc.write(by_dial[dial], first)
    again = list(crossarc.read(first, trees=True))
    assert [s.columns for s in again] == [s.columns for s in by_dial[dial]]
    assert [s.sent_id for s in again] == [f"random-{i}" for i in range(1, 401)]
    crossarc.write(again, second)
    assert first.read_bytes() == second.read_bytes()


def test_text_is_what_the_words_say(by_dial):
    for sentence in by_dial[0.5]:
        text = "".join(w.form + ("" if w.misc == {"SpaceAfter": "No"} else " ") for w in sentence)
        assert sentence.metadata("text") == text.rstrip()


def test_small_vocabulary():
    lemmas = {w.lemma for s in random_treebank(500, seed=1, vocabulary=20) for w in s}
    assert 20 <= len(lemmas) <= 20 + 13  # with the words of closed classes


def test_empty_treebank():
    assert list(random_treebank(0, seed=1)) == []


@pytest.mark.parametrize(
    "wrong",
    [
        {"size": -1},
        {"nonprojectivity": 1.1},
        {"nonprojectivity": float("nan")},
        {"vocabulary": 19},
        {"max_words": 9},
    ],
)
def test_wrong_arguments_are_refused_at_once(wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        random_treebank(**{"size": 1, "seed": 1, **wrong})


@pytest.mark.parametrize("single_root", [True, False])
@pytest.mark.parametrize("n", [0, 1, 2, 3, 30, 500])
def test_random_tree_is_a_tree(n, single_root):
    rng = np.random.default_rng(n)
    for _ in range(20):
        heads = random_tree(n, rng=rng, single_root=single_root)
        assert heads.shape == (n + 1,)
        assert heads.dtype == np.int64
        assert is_tree(heads)
        assert not single_root or n == 0 or np.count_nonzero(heads == 0) == 1


@pytest.mark.parametrize(("n", "single_root", "count"), [(3, False, 16), (3, True, 9), (4, False, 125), (4, True, 64)])
def test_random_tree_is_uniform(n, single_root, count):
    rng = np.random.default_rng(11)
    drawn = Counter(tuple(random_tree(n, rng=rng, single_root=single_root).tolist()) for _ in range(100 * count))
    trees = oracles.all_trees(n, single_root=single_root)
    assert len(trees) == count
    assert drawn.keys() <= set(trees)
    assert chisquare([drawn[tree] for tree in trees]).pvalue > 0.01


def test_random_tree_refuses_a_negative_length():
    with pytest.raises(ValueError, match="negative"):
        random_tree(-1, rng=np.random.default_rng(0))
