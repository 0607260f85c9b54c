"""Memory over words that have never been seen: what is remembered of words is bounded.

More words by hand: ``python tests/test_memory.py parse 2000000``, or ``serve``.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

import pytest

WORDS = 20_000  # of the test
PARAGRAPH = 400  # words


def new_words(number: int) -> Iterator[str]:
    """Paragraphs of words that have not been there before."""
    for first in range(0, number, PARAGRAPH):
        words = (f"Xa{i:x}zor" if i % 12 else f"w{i:x}ed." for i in range(first, first + PARAGRAPH))
        yield " ".join(words) + "\n\n"


def resident_megabytes() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") >> 20


def remember_less(words: int) -> None:
    """Make all that remembers words forget them sooner, so that it is full after few of them."""
    from crossarc.features import hashing, word_table

    hashing.hash_string = lru_cache(words)(hashing.hash_string.__wrapped__)  # before others import it
    for table in (word_table.Memo, word_table.WordTable):
        table.__init__.__defaults__ = (words,)
    from crossarc.text import lemmatizer

    remembered = [name for name, found in vars(lemmatizer).items() if hasattr(found, "cache_info")]
    for name in remembered:
        setattr(lemmatizer, name, lru_cache(words)(getattr(lemmatizer, name).__wrapped__))


def parse(number: int) -> Iterator[int]:
    """Parse so many words as ``crossarc parse`` does; how many words each result has, a paragraph or a part of one."""
    from crossarc.io.text import TextBlock
    from crossarc.pipeline.chunks import Chunk, Job, parse_chunks

    blocks = (TextBlock(text, "x", 1, 1) for text in new_words(number))
    for result in parse_chunks(Job("en"), (Chunk(0, "text", [block]) for block in blocks)):
        yield result.words


def serve(number: int) -> Iterator[int]:
    """The same as a process of ``crossarc serve`` does it."""
    from crossarc.server.handler import Handler
    from crossarc.server.jobs import Process

    handler = Handler("en", 500)
    for text in new_words(number):
        rows = handler.process(Process("en", text, tokenizer="", tagger="", parser="")).splitlines()
        yield sum(row[:1].isdecimal() for row in rows)


def main(way: str, number: int, remembered: int | None) -> None:
    """Parse so many words; the memory after each tenth part."""
    if remembered is not None:
        remember_less(remembered)
    done = 0
    for words in {"parse": parse, "serve": serve}[way](number):
        before, done = done, min(done + words, number)
        if done * 10 // number > before * 10 // number:
            print(done, resident_megabytes(), flush=True)
    assert done == number  # or more: some words are cut into two


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="asks Linux how much memory there is")
@pytest.mark.parametrize("way", ["parse", "serve"])
def test_memory_stays_flat(way):
    """With few words remembered, the last four fifths of them cost next to nothing (2 kB a word if all were kept)."""
    command = [sys.executable, __file__, way, str(WORDS), "2000"]
    finished = subprocess.run(command, capture_output=True, text=True, check=False)
    assert finished.returncode == 0, finished.stderr
    megabytes = [int(line.split()[1]) for line in finished.stdout.splitlines()]
    assert len(megabytes) == 10
    assert megabytes[-1] - megabytes[1] < 15


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]) if sys.argv[3:] else None)
