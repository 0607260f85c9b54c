"""What a parser is to everybody else: sentences and options in, trees out, and a list of what it can do."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from crossarc.core import Constraints, CrossarcError, InputError, NoTreeError, Sentence
from crossarc.learning.listener import DevScores
from crossarc.models import Contents, Tensors, component_of, read_model, write_model
from crossarc.models.schema import Kind
from crossarc.models.tensors import TensorKind
from crossarc.parsers.config import Config
from crossarc.trees import k_best_trees

if TYPE_CHECKING:
    from crossarc.features.explain import Reason
    from crossarc.ilp import Rule

__all__ = [
    "Capability",
    "Confidence",
    "ConstraintSource",
    "Decode",
    "Judged",
    "ParseOptions",
    "Parsed",
    "Parser",
    "RuleSource",
    "Sentences",
    "UnsupportedOption",
    "batches",
    "checked_sentences",
    "labelled",
    "trees_of",
]

Sentences = Sentence | Iterable[Sentence]
Decode = Literal["best", "min-risk", "marginal-threshold"]
Own = TypeVar("Own", bound="Parser")
Item = TypeVar("Item")

_BATCH = 64  # sentences


class Capability(StrEnum):
    """What some parsers can do and others cannot."""

    K_BEST = "k best trees"
    PROBABILITIES = "probabilities of arcs"
    DISTRIBUTION = "probabilities of trees"  # over all of them: entropy, marginals, min-risk
    RULES = "rules"
    PROGRAMS = "integer programs"  # exact or relaxed, with a time limit, without rules too
    MAX_DEGREE = "limits on the degree of non-projectivity"
    MAX_CHILDREN = "limits on children"
    GRAPHS = "words with several heads"
    LANGUAGE_MODEL = "probabilities of sentences"
    EXPLANATIONS = "explanations of arcs"
    EPOCHS = "training in epochs"  # so it can be interrupted and resumed
    PARALLEL_TRAINING = "training in two threads"


class UnsupportedOption(CrossarcError):
    """A parser was asked for something that it cannot do."""


class ConstraintSource(Protocol):
    """Where the constraints on each sentence come from: a file, MISC ..."""

    def constraints_for(self, sentence: Sentence, labels: Sequence[str]) -> Constraints:
        """Raises ``InputError`` for what makes no sense there."""


class RuleSource(Protocol):
    """Where the rules for each sentence come from."""

    def rules_for(self, sentence: Sentence, labels: Sequence[str]) -> Sequence[Rule]:
        """Raises ``InputError`` for what makes no sense there."""


class SentenceTagger(Protocol):
    """What fills in tags: the tagger of ``text``, or a parser that finds tags and trees with one network."""

    def apply(self, sentences: Sequence[Sentence]) -> list[Sentence]:
        """The sentences with tags."""


@dataclass(frozen=True)
class ParseOptions:
    """How to parse. A parser refuses what it cannot do (``UnsupportedOption``); it never ignores an option.

    >>> ParseOptions(k=0)
    Traceback (most recent call last):
    crossarc.core.errors.CrossarcError: k is 0: there must be at least one tree
    """

    k: int = 1  # how many trees of each sentence
    constraints: Constraints | ConstraintSource | None = None  # the same for all sentences, or those of each
    rules: RuleSource | None = None  # that trees must follow: they are then found by integer programs
    decode: Decode = "best"  # or the tree with most arcs expected to be right; or of that, only the likely arcs
    threshold: float = 0.5  # the least probability of an arc (marginal-threshold)
    labelled: bool = False  # whether best, k best and min-risk trees and their probabilities are of labelled trees
    confidence: bool = False  # whether probabilities are wanted
    max_degree: int | None = None  # the largest degree of non-projectivity (Nivre 2007)
    # of integer programs: the best tree there is, or that of the relaxation (the default); of --order 1: over all heads
    exact: bool | None = None
    time_limit: float | None = None  # of integer programs: seconds for a sentence; None: 5
    max_length: int | None = None  # words: longer sentences stay as they are
    enhanced: bool = False  # whether DEPS is filled in: by the model's enhancer, or by a parser of graphs

    def __post_init__(self) -> None:
        if self.k < 1:
            raise CrossarcError(f"k is {self.k}: there must be at least one tree")
        if self.threshold != ParseOptions.threshold and self.decode != "marginal-threshold":
            raise UnsupportedOption("--threshold has no effect here: only with --decode marginal-threshold")
        if self.k > 1 and self.decode != "best":
            raise UnsupportedOption(f"k best trees are not for decoding by {self.decode}")
        if self.rules is not None and (self.k > 1 or self.confidence or self.decode != "best" or self.labelled):
            raise UnsupportedOption("rules give one tree by an integer program: no k best trees, no probabilities")

    @property
    def by_sentence(self) -> bool:
        """Whether sentences differ in what is wanted of them."""
        return self.constraints is not None or self.rules is not None

    def constraints_for(self, sentence: Sentence, labels: Sequence[str]) -> Constraints:
        """What the tree of a sentence must look like."""
        own = self.constraints
        if own is not None and not isinstance(own, Constraints):
            own = own.constraints_for(sentence, labels)
        return self.shared(own or Constraints())

    def shared(self, constraints: Constraints) -> Constraints:
        """The constraints with what holds for all sentences."""
        return constraints if self.max_degree is None else replace(constraints, max_degree=self.max_degree)

    def asked(self) -> Iterator[tuple[Capability, str]]:
        """The capabilities that these options need, and what the command line calls them."""
        if self.k > 1:
            yield Capability.K_BEST, "-k"
        if self.confidence:
            yield Capability.PROBABILITIES, "--confidence"
        if self.decode != "best":
            yield Capability.DISTRIBUTION, "--decode"
        if self.labelled:
            yield Capability.DISTRIBUTION, "--labelled"
        if self.rules is not None:
            yield Capability.RULES, "--rules"
        elif self.exact is not None or self.time_limit is not None:
            yield Capability.PROGRAMS, "--exact, --relaxed and --time-limit without --rules"
        if self.max_degree is not None:
            yield Capability.MAX_DEGREE, "--max-degree"
        if self.enhanced:
            yield Capability.GRAPHS, "--enhanced"


@dataclass(frozen=True)
class Confidence:
    """How sure a parser is of a tree. Arrays have an entry for each node; that of the root means nothing.

    Unless they are called labelled, trees are heads here: what is said of them is summed over all labels. What follows
    the first two is known only to parsers with probabilities of trees.
    """

    arcs: NDArray[np.float64]  # the probability of each word's arc
    labels: NDArray[np.float64]  # and of its arc with its label
    log_probability: float | None = None  # of the tree
    entropy: float | None = None  # of all trees, in nats
    marginals: NDArray[np.float64] | None = None  # [h, m]: the probability of every arc
    label_shares: NDArray[np.float64] | None = None  # [m, l]: of each label, given the arc into m
    potentials: NDArray[np.float64] | None = None  # [h, m]: log p of a tree is the sum of these less a constant
    single_root: bool = False
    projective: bool = False
    labelled_log_probability: float | None = None  # of the tree with its labels
    labelled_marginals: NDArray[np.float64] | None = (
        None  # [h, m, l]: of every labelled arc (``ParseOptions.labelled``)
    )

    @property
    def probability(self) -> float | None:
        """Of the tree."""
        return None if self.log_probability is None else float(np.exp(self.log_probability))

    @cached_property
    def margin(self) -> float | None:
        """log p of the best tree minus that of the second best; inf if there is no other."""
        if self.potentials is None:
            return None
        trees = k_best_trees(self.potentials, 2, single_root=self.single_root, projective=self.projective)
        return trees[0].score - trees[1].score if len(trees) == 2 else np.inf


@dataclass(frozen=True)
class Parsed:
    """What became of a sentence."""

    sentence: Sentence  # with its tree; as it came if there is none
    score: float | None = None
    probability: float | None = None  # of the tree, if the parser knows it
    status: str | None = None  # of integer programs, and of exact trees: how good the tree is
    confidence: Confidence | None = None  # if it was asked for
    error: InputError | None = None  # why there is no tree
    notes: tuple[str, ...] = ()
    trees: tuple[Parsed, ...] = ()  # the k best, this one first, if several were asked for


class Judged(NamedTuple):
    """How probable a parser finds the tree that a sentence has. Arrays are as in ``Confidence``."""

    heads: NDArray[np.float64]  # the probability of the arc that each word has
    labels: NDArray[np.float64]  # of the label that it has, given that arc
    parsed: Parsed  # the parser's own tree, with its confidence


class Parser(ABC):
    """A trained parser. Each system has a class for its own, in a folder of its own.

    A system says how batches of sentences are decoded (``decode``) and what its model file keeps (``to_model``,
    ``from_model``) and may have (``header_kinds``, ``tensor_kinds``); all else is here.
    """

    system: ClassVar[str]
    capabilities: ClassVar[frozenset[Capability]]
    header_kinds: ClassVar[Mapping[str, Kind]]
    optional_fields: ClassVar[Collection[str]] = ()
    config: Config

    # of the treebank that it was trained on: dataclass fields of each system
    labels: tuple[str, ...]
    dev: DevScores | None
    treebank: str

    @abstractmethod
    def decode(self, sentences: Sequence[Sentence], constraints: Constraints, options: ParseOptions) -> list[Parsed]:
        """The trees of sentences. Constraints other than limits of shape come with one sentence only.

        Raises
        ------
        NoTreeError : the constraints allow no tree
        UnsupportedConstraint : the parser cannot honour a constraint
        """

    def header(self) -> dict[str, Any]:
        """What the headers of all parsers have."""
        dev = self.dev and self.dev._asdict()
        own = {"config": asdict(self.config), "labels": self.labels, "dev": dev, "treebank": self.treebank}
        return {"system": self.system, **own}

    @abstractmethod
    def to_model(self) -> tuple[dict[str, Any], Tensors]:
        """What a model file keeps: a header and tensors."""

    @classmethod
    @abstractmethod
    def tensor_kinds(cls, header: dict[str, Any]) -> Mapping[str, TensorKind]:
        """The tensors that belong to a header of these kinds."""

    @classmethod
    @abstractmethod
    def from_model(cls: type[Own], header: dict[str, Any], tensors: Tensors) -> Own:
        """The parser with this header and these tensors."""

    def parse(self, sentences: Sentences, options: ParseOptions | None = None) -> Iterator[Parsed]:
        """What becomes of each sentence, in their order, a batch at a time."""
        options = options or ParseOptions()
        self.check(options)
        for batch in batches(checked_sentences(sentences), _BATCH):
            if not options.by_sentence and _fit(batch, options):
                yield from self.decode(batch, options.shared(Constraints()), options)
            else:
                yield from (self._parse_one(sentence, options) for sentence in batch)

    def check(self, options: ParseOptions) -> None:
        """Refuse what this parser cannot do."""
        for capability, name in options.asked():
            if capability not in self.capabilities:
                raise UnsupportedOption(f"{name}: not with a model of --system {self.system} (no {capability})")

    def _parse_one(self, sentence: Sentence, options: ParseOptions) -> Parsed:
        if not _fit([sentence], options):
            longer = f"{len(sentence)} words, more than --max-length {options.max_length}"
            return Parsed(sentence, notes=(f"{sentence.place()}: {longer}: left as it is",))
        try:
            (parsed,) = self.decode([sentence], options.constraints_for(sentence, self.labels), options)
        except InputError as error:
            return Parsed(sentence, error=error)
        except NoTreeError as error:
            return Parsed(sentence, error=InputError(str(error), sentence.place()))
        return parsed

    def trees(self, sentences: Sentences, options: ParseOptions | None = None) -> Iterator[Sentence]:
        """The sentences with their trees; raises the error of the first that has none."""
        return trees_of(self.parse(sentences, options))

    def parse_sentence(self, sentence: Sentence, constraints: Constraints | None = None) -> Sentence:
        """One sentence with its tree; raises as ``decode`` does."""
        return self.decode([sentence], constraints or Constraints(), ParseOptions())[0].sentence

    @classmethod
    def capabilities_in(cls, header: Mapping[str, Any]) -> frozenset[Capability]:
        """What the parser with that header can do."""
        return cls.capabilities

    @property
    def knows_probabilities(self) -> bool:
        """Whether this parser, of a system with probabilities, has been fitted to give them."""
        return Capability.PROBABILITIES in self.capabilities

    @property
    def tagger(self) -> SentenceTagger | None:
        """What tags sentences, if the parser can do that itself."""
        return None

    def calibrated(self: Own, gold: Sequence[Sentence]) -> Own:
        """The parser with its probabilities fitted to trees that it was not trained on."""
        raise UnsupportedOption(f"a parser of system {self.system} has no {Capability.PROBABILITIES}")

    def judge(self, sentences: Iterable[Sentence]) -> Iterator[Judged]:
        """How probable the heads and labels are that sentences have; they need not be trees."""
        raise UnsupportedOption(f"a parser of system {self.system} has no {Capability.DISTRIBUTION}")

    def save(self, path: str | Path) -> None:
        """Write a model that has only this parser."""
        write_model(path, {"parser": self})

    @classmethod
    def load(cls: type[Own], path: str | Path) -> Own:
        """The parser of a model file."""
        return component_of(cls, read_model(path).components.get("parser", Contents({}, {})), path)

    def explain(self, sentence: Sentence, head: int, modifier: int) -> list[Reason]:
        """What spoke for and against an arc, in the tree that the sentence has; the weightiest first."""
        raise UnsupportedOption(f"a parser of system {self.system} has no {Capability.EXPLANATIONS}")

    def with_labels(self, sentence: Sentence, heads: NDArray[np.int64], labels: NDArray[np.int64]) -> Sentence:
        """The sentence with these heads and the labels of these numbers; -1 is none."""
        return labelled(sentence, heads, labels, self.labels)

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {len(self.labels)} labels>"


def checked_sentences(given: Sentences) -> Iterator[Sentence]:
    """The sentences, or the only one; a ``TypeError`` says what is wanted instead of anything else."""
    for sentence in [given] if isinstance(given, Sentence) else given:
        if not isinstance(sentence, Sentence):
            wanted = "Sentence objects: crossarc.read(path), or Sentence.of(words)"
            raise TypeError(f"{type(sentence).__name__} instead of {wanted}; text is for crossarc.load(model)(text)")
        yield sentence


def trees_of(found: Iterable[Parsed]) -> Iterator[Sentence]:
    """The trees of what was parsed; raises the error of the first sentence that has none."""
    for parsed in found:
        if parsed.error is not None:
            raise parsed.error
        yield parsed.sentence


def labelled(sentence: Sentence, heads: NDArray[np.int64], labels: NDArray[np.int64], names: Sequence[str]) -> Sentence:
    """The sentence with these heads, and with the names of these labels; -1 is none."""
    return sentence.with_tree(heads, ["_", *("_" if label < 0 else names[label] for label in labels[1:].tolist())])


def batches(items: Iterable[Item], size: int) -> Iterator[list[Item]]:
    """The items, so many at a time."""
    remaining = iter(items)
    while batch := list(islice(remaining, size)):
        yield batch


def _fit(sentences: Sequence[Sentence], options: ParseOptions) -> bool:
    return options.max_length is None or max(map(len, sentences), default=0) <= options.max_length
