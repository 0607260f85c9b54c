"""From a file to its parse: block by block, in one process or several, in order and in flat memory.

Whatever belongs to a sentence (reading, parsing, writing) is done by the same process, on chunks of the file; only
text goes from one process to another.
"""

from __future__ import annotations

import multiprocessing
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any, Literal, NamedTuple

from crossarc.core import Constraints, CrossarcError, InputError, NoTreeError, Sentence
from crossarc.ilp.rule_file import read_rules, rules_of
from crossarc.io import FORMATS, Format
from crossarc.io.blocks import Block
from crossarc.io.text import TextBlock
from crossarc.parsers import CovingtonParser, IlpParser, ScoredTree, SpanningTreeParser
from crossarc.parsers.constraint_file import Wishes, constraints_of
from crossarc.parsers.linear.solving import status_of
from crossarc.parsers.spanning_tree.probabilities import Decode, analyse, with_confidence, with_probabilities
from crossarc.pipeline.pipeline import load

__all__ = ["Done", "Input", "Task", "run"]

Input = Format | Literal["text", "lines"]

_CHUNK = 64  # sentences; of text, so many paragraphs as come together
_AHEAD = 4  # chunks that wait for each process


@dataclass(frozen=True)
class Task:
    """What is to be done with every sentence."""

    model: str
    read_as: Input
    write_as: Format
    k: int = 1
    constrained: bool = False
    wishes: Wishes | None = None  # None: what MISC says
    max_length: int = 1000
    max_degree: int | None = None  # of the incremental parser
    decode: Decode = "best"
    threshold: float = 0.5
    confidence: bool = False
    exact: bool = False  # of integer programs, as the two that follow
    time_limit: float | None = None
    rules: str | None = None  # a file
    retag: bool = False  # whether given tags and lemmas are replaced


class Done(NamedTuple):
    """What became of a chunk: its text, the sentences that could not be parsed, notes on others."""

    text: str
    errors: tuple[CrossarcError, ...]
    notes: tuple[str, ...]


class Worker:
    """Does a task."""

    def __init__(self, task: Task) -> None:
        self.task = task
        self.pipeline = load(task.model)
        self.parser = self.pipeline.parser
        self.by_probability = task.confidence or task.decode != "best"
        self.rules = read_rules(task.rules) if task.rules is not None else []
        self.by_program = isinstance(self.parser, IlpParser) or task.rules is not None

    def __call__(self, blocks: list[Block] | list[TextBlock]) -> Done:
        errors: list[CrossarcError] = []
        notes: list[str] = []
        sentences: list[Sentence] = []
        for block in blocks:
            try:
                sentences += self._read(block)
            except InputError as error:
                errors.append(error)
        trees = self._parse(self.pipeline.annotate(sentences, retag=self.task.retag), errors, notes)
        text = "".join(map(FORMATS[self.task.write_as].format_sentence, trees))
        return Done(text, tuple(errors), tuple(notes))

    def _read(self, block: Block | TextBlock) -> list[Sentence]:
        """The sentences of a block, without tags if it is text."""
        if isinstance(block, TextBlock):
            lines = self.task.read_as == "lines"
            return self.pipeline.segment(block.content, lines=lines, paragraph=block.paragraph, path=block.path)
        return [FORMATS[self.task.read_as].parse_block(block)]

    def _parse(self, sentences: list[Sentence], errors: list[CrossarcError], notes: list[str]) -> Iterator[Sentence]:
        if self.task.k == 1 and not self.task.constrained and not self.by_program and self._fit(sentences):
            if self.by_probability:
                return self._analysed(sentences, None)
            if isinstance(self.parser, CovingtonParser):
                return self.parser.parse(sentences, max_degree=self.task.max_degree)
            return self.parser.parse(sentences)
        return (tree for sentence in sentences for tree in self._parse_one(sentence, errors, notes))

    def _fit(self, sentences: list[Sentence]) -> bool:
        return max(map(len, sentences), default=0) <= self.task.max_length

    def _parse_one(self, sentence: Sentence, errors: list[CrossarcError], notes: list[str]) -> list[Sentence]:
        if not self._fit([sentence]):
            longer = f"{len(sentence)} words, more than --max-length {self.task.max_length}"
            notes.append(f"{sentence.place()}: {longer}: left as it is")
            return [sentence]
        try:
            wished = self._wished(sentence)
            if self.by_probability:
                return list(self._analysed([sentence], wished))
            if self.by_program:
                return [self._by_program(sentence, wished, notes)]
            if self.task.k == 1:
                return [self.parser.parse_sentence(sentence, wished)]
            assert isinstance(self.parser, SpanningTreeParser)  # the command has refused others
            trees = self.parser.k_best(sentence, self.task.k, wished)
        except InputError as error:
            errors.append(error)
            return []
        except NoTreeError as error:
            errors.append(InputError(str(error), sentence.place()))
            return []
        return [
            replace(tree.sentence, comments=(*sentence.comments, *_comments(rank, tree)))
            for rank, tree in enumerate(trees, 1)
        ]

    def _analysed(self, sentences: list[Sentence], constraints: Constraints | None) -> Iterator[Sentence]:
        if isinstance(self.parser, CovingtonParser):
            trees = self.parser.parse_with_confidence(sentences, max_degree=self.task.max_degree)
            return (with_probabilities(*tree) for tree in trees)
        assert isinstance(self.parser, SpanningTreeParser)  # the command has refused others
        found = analyse(
            self.parser, sentences, decode=self.task.decode, threshold=self.task.threshold, constraints=constraints
        )
        return (with_confidence(analysis) if self.task.confidence else analysis.sentence for analysis in found)

    def _by_program(self, sentence: Sentence, wished: Constraints, notes: list[str]) -> Sentence:
        """The tree of an integer program; how good it is, in a comment."""
        assert isinstance(self.parser, IlpParser | SpanningTreeParser)  # the command has refused others
        rules = rules_of(self.rules, sentence, self.parser.labels)
        options: dict[str, Any] = {"rules": rules, "exact": self.task.exact, "time_limit": self.task.time_limit}
        solved = self.parser.solve(sentence, wished, **options)
        notes += [f"{sentence.place()}: breaks {rule}" for rule in solved.solution.broken]
        status = f"# crossarc_status = {status_of(solved.solution)}"
        return replace(solved.sentence, comments=(*sentence.comments, status))

    def _wished(self, sentence: Sentence) -> Constraints:
        """What the user demands of the tree of a sentence."""
        constraints = Constraints()
        if self.task.constrained:
            constraints = constraints_of(sentence, self.parser.labels, self.task.wishes)
        return replace(constraints, max_degree=self.task.max_degree)


def _comments(rank: int, tree: ScoredTree) -> tuple[str, ...]:
    """What is said about one of several trees."""
    comments = (f"# crossarc_rank = {rank}", f"# crossarc_score = {tree.score:.4f}")
    return comments if tree.probability is None else (*comments, f"# crossarc_prob = {tree.probability:.6f}")


def run(task: Task, blocks: Iterable[Block] | Iterable[TextBlock], jobs: int) -> Iterator[Done]:
    """Do the task; what is done comes in the order of the blocks."""
    remaining: Iterator[Any] = iter(blocks)
    size = 1 if task.read_as in ("text", "lines") else _CHUNK
    chunks: Iterator[list[Any]] = iter(lambda: list(islice(remaining, size)), [])
    if jobs == 1:
        return map(Worker(task), chunks)
    return _in_processes(task, chunks, jobs)


def _in_processes(task: Task, chunks: Iterator[list[Any]], jobs: int) -> Iterator[Done]:
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(jobs, context, _start, (task,)) as pool:
        waiting: deque[Future[Done]] = deque()
        try:
            for chunk in chunks:
                waiting.append(pool.submit(_work, chunk))
                if len(waiting) >= _AHEAD * jobs:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            pool.shutdown(cancel_futures=True)


_worker: Worker


def _start(task: Task) -> None:
    global _worker
    _worker = Worker(task)


def _work(blocks: list[Any]) -> Done:
    return _worker(blocks)
