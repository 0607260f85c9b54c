"""Where sentences count as long."""

from __future__ import annotations

import numpy as np
import pytest

from crossarc.scorers.shape import tree_shape
from crossarc.search import _find_tree
from crossarc.search.methods import SecondOrder


@pytest.mark.parametrize(("words", "is_long"), [(_find_tree.LONG, False), (_find_tree.LONG + 1, True)])
def test_sentences_of_just_that_length_are_not_too_long(monkeypatch, words, is_long):
    monkeypatch.setattr(_find_tree, "second_order_of_short", lambda *_: False)
    monkeypatch.setattr(_find_tree, "climb_from_several_starts", lambda *_: True)
    search = SecondOrder(tree_shape(single_root=True, projective=False), 0)
    assert _find_tree.second_order(search, None, 0, np.zeros(words + 1, np.int64)) is is_long
