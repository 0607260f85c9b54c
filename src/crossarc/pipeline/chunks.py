"""From a file to its parse: chunk by chunk, in one process or several, in order and in flat memory.

Whatever belongs to a sentence (reading, parsing, writing) is done by the same process, on chunks of the file; only
text goes from one process to another.
"""

from __future__ import annotations

import logging
import multiprocessing
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import chain
from multiprocessing.synchronize import Lock as SpeakerLock
from typing import Any, Literal, NamedTuple

from crossarc.core import CrossarcError, InputError, Sentence
from crossarc.io import FORMATS, FORMATTERS, Format, OutputFormat
from crossarc.io.blocks import Block
from crossarc.io.text import TextBlock
from crossarc.parsers.base import ParseOptions, batches
from crossarc.pipeline.output import with_notes
from crossarc.pipeline.pipeline import load
from crossarc.pipeline.processes import in_processes

__all__ = ["Chunk", "ChunkResult", "Input", "Job", "chunks_of", "parse_chunks"]

Input = Format | Literal["text", "lines"]

_CHUNK = 64  # sentences; of text, as many as come together, parsed so many at a time


@dataclass(frozen=True)
class Job:
    """What is to be done with every chunk."""

    model: str
    write_as: OutputFormat = "conllu"
    options: ParseOptions = field(default_factory=ParseOptions)
    retag: bool = False  # whether given tags and lemmas are replaced


class Chunk(NamedTuple):
    """Blocks of one file, which are parsed together."""

    file: int  # its number
    read_as: Input
    blocks: list[Any]  # of ``Block``, or of ``TextBlock``

    @property
    def size(self) -> int:
        """How many bytes of the file this is, with the blank lines after sentences."""
        if self.read_as in ("text", "lines"):
            return sum(len(block.content.encode()) for block in self.blocks)
        return sum(len(block.content) + 2 for block in self.blocks)


def chunks_of(blocks: Iterable[Block] | Iterable[TextBlock], read_as: Input, file: int = 0) -> Iterator[Chunk]:
    """The blocks of a file, so many together as are parsed at a time."""
    size = 1 if read_as in ("text", "lines") else _CHUNK
    return (Chunk(file, read_as, some) for some in batches(blocks, size))


class ChunkResult(NamedTuple):
    """What became of some sentences of a chunk: their text, those that could not be parsed, notes on others."""

    file: int  # the number of the file that the chunk is of
    size: int  # about so many bytes of the chunk; those of all its results add up to its size
    text: str
    sentences: int
    words: int
    errors: tuple[CrossarcError, ...]
    notes: tuple[str, ...]
    trees: str = ""  # in CoNLL-U, whatever is written: for rules, which are compared with the names in them


class ChunkParser:
    """Parses one chunk of the input after the other, a few sentences at a time, and formats them."""

    def __init__(self, job: Job) -> None:
        self.job = job
        self.pipeline = load(job.model)
        self.pipeline.check(job.options, retag=job.retag)

    def __call__(self, chunk: Chunk) -> Iterator[ChunkResult]:
        errors: list[CrossarcError] = []
        sentences = list(self._read(chunk, errors))
        told = done = 0
        for some in list(batches(sentences, _CHUNK)) or [[]]:
            done += len(some)
            so_far = chunk.size * done // len(sentences) if sentences else chunk.size
            yield self._parsed(chunk.file, so_far - told, some, errors)
            told, errors = so_far, []

    def _parsed(self, file: int, size: int, sentences: list[Sentence], errors: list[CrossarcError]) -> ChunkResult:
        """What becomes of some sentences, and of those that were broken."""
        notes: list[str] = []
        trees: list[Sentence] = []
        for parsed in self.pipeline.parse(sentences, self.job.options, retag=self.job.retag):
            notes += parsed.notes
            if parsed.error is not None:
                errors.append(parsed.error)
            else:
                trees += with_notes(parsed)
        text = "".join(map(FORMATTERS[self.job.write_as], trees))
        words = sum(map(len, sentences))
        compared = "" if self.job.options.rules is None else "".join(map(FORMATTERS["conllu"], trees))
        done = tuple(errors), tuple(notes), compared
        return ChunkResult(file, size, text, len(sentences), words, *done)

    def _read(self, chunk: Chunk, errors: list[CrossarcError]) -> Iterator[Sentence]:
        """The sentences of blocks, without tags if these are text."""
        lines = chunk.read_as == "lines"
        for block in chunk.blocks:
            if isinstance(block, TextBlock):
                yield from self.pipeline.segment(block.content, lines=lines, paragraph=block.paragraph, path=block.path)
                continue
            try:
                yield FORMATS[chunk.read_as].parse_block(block)
            except InputError as error:
                errors.append(error)


def parse_chunks(job: Job, chunks: Iterable[Chunk], jobs: int = 1) -> Iterator[ChunkResult]:
    """Parse the chunks of files; results come in their order."""
    if jobs == 1:
        return chain.from_iterable(map(ChunkParser(job), chunks))
    level, speaker = logging.getLogger("crossarc").getEffectiveLevel(), multiprocessing.get_context("spawn").Lock()
    results = in_processes(_parse, iter(chunks), jobs, start=_start, arguments=(job, level, speaker))
    return chain.from_iterable(results)


_parser: ChunkParser  # of this process


def _start(job: Job, level: int, speaker: SpeakerLock) -> None:
    """Load the model. The first process to get here speaks for all: it says that kernels are being compiled."""
    global _parser
    if speaker.acquire(block=False):
        logging.basicConfig(format="crossarc: %(message)s")
        logging.getLogger("crossarc").setLevel(level)
    _parser = ChunkParser(job)


def _parse(chunk: Chunk) -> list[ChunkResult]:
    return list(_parser(chunk))
