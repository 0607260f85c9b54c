"""Reading raw text."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crossarc.io.text import count_paragraphs, read_text


@given(st.lists(st.sampled_from(["a b", "c", " ", "\n", "\n\n", "\r\n \r\n", "é"]), max_size=40), st.booleans())
def test_reading_a_text_in_pieces_loses_nothing(parts, lines):
    content = "".join(parts)

    class Slowly:
        def __init__(self):
            self.rest = content.encode()

        def read1(self, size):
            piece, self.rest = self.rest[:size], self.rest[size:]
            return piece

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("crossarc.io.text._CHUNK", 5)
        if not content.strip():
            with pytest.raises(ValueError, match="no text in this file"):
                list(read_text(Slowly(), "x.txt", lines=lines))
            return
        blocks = list(read_text(Slowly(), "x.txt", lines=lines))
    assert "".join(block.content for block in blocks) == content
    for block, following in pairwise(blocks):
        assert following.paragraph == block.paragraph + count_paragraphs(block.content, lines=lines)
    assert sum(count_paragraphs(block.content, lines=lines) for block in blocks) == count_paragraphs(
        content, lines=lines
    )
