"""From a file to its parse: chunk by chunk, in one process or several, in order and in flat memory.

Whatever belongs to a sentence (reading, parsing, writing) is done by the same process, on chunks of the file; only
text goes from one process to another.
"""

from __future__ import annotations

import multiprocessing
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, Literal, NamedTuple

from crossarc.core import CrossarcError, InputError, Sentence
from crossarc.io import FORMATS, Format
from crossarc.io.blocks import Block
from crossarc.io.text import TextBlock
from crossarc.parsers.base import ParseOptions
from crossarc.pipeline.output import with_notes
from crossarc.pipeline.pipeline import load

__all__ = ["ChunkResult", "Input", "Job", "parse_chunks"]

Input = Format | Literal["text", "lines"]

_CHUNK = 64  # sentences; of text, so many paragraphs as come together
_AHEAD = 4  # chunks that wait for each process


@dataclass(frozen=True)
class Job:
    """What is to be done with every chunk."""

    model: str
    read_as: Input
    write_as: Format
    options: ParseOptions = field(default_factory=ParseOptions)
    retag: bool = False  # whether given tags and lemmas are replaced


class ChunkResult(NamedTuple):
    """What became of a chunk: its text, the sentences that could not be parsed, notes on others."""

    text: str
    sentences: int
    errors: tuple[CrossarcError, ...]
    notes: tuple[str, ...]


class ChunkParser:
    """Parses one chunk of the input after the other, and formats it."""

    def __init__(self, job: Job) -> None:
        self.job = job
        self.pipeline = load(job.model)
        self.pipeline.parser.check(job.options)

    def __call__(self, blocks: list[Block] | list[TextBlock]) -> ChunkResult:
        errors: list[CrossarcError] = []
        notes: list[str] = []
        trees: list[Sentence] = []
        sentences = list(self._read(blocks, errors))
        for parsed in self.pipeline.parse(sentences, self.job.options, retag=self.job.retag):
            notes += parsed.notes
            if parsed.error is not None:
                errors.append(parsed.error)
            else:
                trees += with_notes(parsed)
        text = "".join(map(FORMATS[self.job.write_as].format_sentence, trees))
        return ChunkResult(text, len(sentences), tuple(errors), tuple(notes))

    def _read(self, blocks: list[Block] | list[TextBlock], errors: list[CrossarcError]) -> Iterator[Sentence]:
        """The sentences of blocks, without tags if these are text."""
        lines = self.job.read_as == "lines"
        for block in blocks:
            if isinstance(block, TextBlock):
                yield from self.pipeline.segment(block.content, lines=lines, paragraph=block.paragraph, path=block.path)
                continue
            try:
                yield FORMATS[self.job.read_as].parse_block(block)
            except InputError as error:
                errors.append(error)


def parse_chunks(job: Job, blocks: Iterable[Block] | Iterable[TextBlock], jobs: int = 1) -> Iterator[ChunkResult]:
    """Parse the blocks of a file; results come in their order."""
    remaining: Iterator[Any] = iter(blocks)
    size = 1 if job.read_as in ("text", "lines") else _CHUNK
    chunks: Iterator[list[Any]] = iter(lambda: list(islice(remaining, size)), [])
    if jobs == 1:
        return map(ChunkParser(job), chunks)
    return _in_processes(job, chunks, jobs)


def _in_processes(job: Job, chunks: Iterator[list[Any]], jobs: int) -> Iterator[ChunkResult]:
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(jobs, context, _start, (job,)) as pool:
        waiting: deque[Future[ChunkResult]] = deque()
        try:
            for chunk in chunks:
                waiting.append(pool.submit(_parse, chunk))
                if len(waiting) >= _AHEAD * jobs:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            pool.shutdown(cancel_futures=True)


_parser: ChunkParser  # of this process


def _start(job: Job) -> None:
    global _parser
    _parser = ChunkParser(job)


def _parse(blocks: list[Any]) -> ChunkResult:
    return _parser(blocks)
