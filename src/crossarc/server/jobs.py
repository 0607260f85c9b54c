"""What the service asks of its workers, and what they answer: plain data that goes from process to process."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from crossarc.core import CrossarcError
from crossarc.parsers.constraint_file import WordConstraint

__all__ = ["Answer", "Description", "Job", "Limits", "Parse", "Process", "RequestError", "SentenceConstraint"]


@dataclass(frozen=True)
class Limits:
    """What one request may cost."""

    size: int = 4 << 20  # bytes of a request
    length: int = 500  # words of a sentence
    seconds: float = 30.0  # of work, and of sending the request; of waiting for a worker twice as many
    k: int = 50  # trees of a sentence
    waiting: int = 512  # requests that wait for a worker
    requests: int = 1000  # requests at once, with those that are being read or written
    words: int = 60_000  # of a request; those of k best trees and of long sentences count several times
    head: int = 1 << 16  # bytes of the head of a request: its address and its header lines
    head_seconds: float = 10.0  # to send that
    reply_seconds: float = 30.0  # in which a client takes at least something of a reply


class SentenceConstraint(NamedTuple):
    """A constraint on a word of one of the sentences, which are counted from 1."""

    sentence: int
    constraint: WordConstraint


@dataclass(frozen=True)
class Parse:
    """Of our own interface: trees with their probabilities, given constraints."""

    model: str
    text: str
    format: str  # "text" or "conllu"
    k: int = 1
    constraints: tuple[SentenceConstraint, ...] = ()
    judge: bool = False  # whether the arcs that sentences come with are to be judged
    path: str | None = None  # of a model that joined after the start


@dataclass(frozen=True)
class Process:
    """Of the interface of UDPipe: a step is done if its options are not None."""

    model: str
    data: str
    input: str = "conllu"
    output: str = "conllu"
    tokenizer: str | None = None
    tagger: str | None = None
    parser: str | None = None
    path: str | None = None  # of a model that joined after the start


Job = Parse | Process


class Description(NamedTuple):
    """What a model can do."""

    steps: tuple[str, ...]  # of "tokenizer", "tagger", "parser"
    labels: tuple[str, ...]
    probabilities: bool
    k_best: bool
    acknowledgement: str  # whose work it is, and its licence; may be empty
    language: str = ""  # its English name, if the model says


class Answer(NamedTuple):
    """JSON for our own interface, text for that of UDPipe."""

    content: str


class RequestError(CrossarcError):
    """A request that cannot be done, and whose fault that is."""

    def __init__(self, status: int, message: str, line: int | None = None, sentence: str | None = None) -> None:
        super().__init__(status, message, line, sentence)
        self.status = status
        self.message = message
        self.line = line
        self.sentence = sentence

    def __str__(self) -> str:
        line = f"line {self.line}: " if self.line else ""
        sentence = f"sentence {self.sentence}: " if self.sentence else ""
        return f"{line}{sentence}{self.message}"
