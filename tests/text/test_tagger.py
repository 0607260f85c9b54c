"""The tagger: what it promises of any treebank."""

from __future__ import annotations

import numpy as np
import pytest
from components import TEST, TRAIN, tagger

from crossarc.core import CrossarcError, Sentence
from crossarc.features._hashing import hash_slots
from crossarc.models.schema import Anything
from crossarc.text import Tagger, TaggerTraining
from crossarc.text.lexicon import Lexicon
from crossarc.text.packing import pack, unpack


def test_tags_of_unseen_sentences():
    tagged = tagger().apply([Sentence.of(sentence.form) for sentence in TEST])
    words = [(a, b) for gold, own in zip(TEST, tagged, strict=True) for a, b in zip(gold.upos, own.upos, strict=True)]
    assert sum(a == b for a, b in words) > 0.9 * len(words)
    assert all(tag in tagger().tags for own in tagged for tag in zip(own.upos, own.xpos, own.feats, strict=True))


def test_a_sentence_is_tagged_the_same_in_any_company():
    bare = [Sentence.of(sentence.form) for sentence in [*TEST, Sentence.of([])]]
    assert [tagger().apply([sentence])[0] for sentence in bare] == tagger().apply(bare)


def test_the_second_pass_chooses_among_the_near_best():
    first = tagger().first
    items, choices = tagger().lexicon.items([sentence.form for sentence in TEST])
    near = first.narrow(items, choices, 0.5)
    np.testing.assert_array_equal(near.first, first.choose(items, choices))
    places = (hash_slots(items.attributes, first.templates)[0][items.rows] >> first.shift).astype(np.int64)
    for i, number in enumerate(choices.lists):
        classes = choices.classes[choices.bounds[number] : choices.bounds[number + 1]]
        scores = first.weights[places[i][:, None, None] + first.aspects[classes]].sum(axis=(0, 2))
        kept = near.classes[near.bounds[i] : near.bounds[i + 1]].tolist()
        assert kept[0] == classes[scores.argmax()]
        assert set(classes[scores > scores.max() - 0.499].tolist()) <= set(kept)
        assert set(kept) <= set(classes[scores > scores.max() - 0.501].tolist())


def test_cross_validation_keeps_a_tagger_from_what_it_tags():
    # A word of the last sentence alone is unknown to the tagger that tags it, and to no other
    odd = TRAIN[-1].with_columns(form=["zzz", *TRAIN[-1].form[1:]], upos=["ODD", *TRAIN[-1].upos[1:]])
    training = TaggerTraining([*TRAIN[:-1], odd], seed=1, folds=4)
    assert training.cross_tagged()[-1].upos[0] != "ODD"
    assert training.run().apply([odd])[0].upos[0] == "ODD"


def test_a_tagger_survives_a_model():
    header, tensors = tagger().to_model()
    assert "[second-pass]" in header["features"]
    assert Tagger.from_model(header, tensors).apply(TEST) == tagger().apply(TEST)


def test_a_model_with_tags_or_weights_that_do_not_fit_is_refused():
    header, tensors = tagger().to_model()
    words = unpack(tensors["words"], Anything())
    odd = pack({**words, "guesses": {"": [len(words["tags"])]}})
    with pytest.raises(CrossarcError, match="the lexicon of its tagger: guesses has"):
        Tagger.from_model(header, {**tensors, "words": odd})
    with pytest.raises(CrossarcError, match="weights are no table"):
        Tagger.from_model(header, {**tensors, "second": tensors["second"][:-1]})


def test_training_tells_how_many_words_it_has_learnt_from():
    told = []

    class Listener:
        def progress(self, stage, words):
            told.append((stage, words))

    training = TaggerTraining(TRAIN[:20], folds=2, listener=Listener())
    training.run_first_passes()
    assert {stage for stage, _ in told} == {"tagger"}
    assert sum(words for _, words in told) == training.words_of_pass


def test_a_word_is_looked_up_by_its_form_then_by_its_end():
    lexicon = Lexicon(
        {"the": ([0], True), "run": ([1, 2], False)}, {"": [1], "aun": [2, 1]}, ["DET X", "NOUN X", "VERB X"]
    )
    assert lexicon.classes_of("the") == [0]
    assert lexicon.classes_of("run") == [1, 2]
    assert lexicon.classes_of("Run") == [1, 2]
    assert lexicon.classes_of("stun") == [2, 1]  # as other words of small letters with that end
    _, choices = lexicon.items([["the", "run"], [], ["the", "zzz"]])
    lists = [choices.classes[choices.bounds[i] : choices.bounds[i + 1]].tolist() for i in choices.lists]
    assert lists == [[0], [1, 2], [0], [1]]
