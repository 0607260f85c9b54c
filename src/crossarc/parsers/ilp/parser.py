"""The integer-program parser of Martins, Smith and Xing (2009), and programs as a decoder of other graph-based parsers.

Features, scores, decoder and learner, put together: the pruner, the scores of parts and the labels are those of the
spanning-tree parser, with scores of arcs that are not projective beside them; trees are found by an integer program
(``crossarc.ilp``) or its relaxation; weights are learnt with the relaxation (``ilp_training``).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from crossarc.core import Constraints, Sentence
from crossarc.ilp import Rule
from crossarc.models.file import load_model, save_model
from crossarc.parsers.ilp.config import IlpConfig
from crossarc.parsers.linear.parser import LinearParser
from crossarc.parsers.linear.solving import Solved, solve_sentence
from crossarc.parsers.training import DevScores
from crossarc.scorers.linear.scorer import LinearScorer

__all__ = ["IlpParser"]

SYSTEM = "ilp"


@dataclass(frozen=True)
class IlpParser:
    """A trained integer-program parser.

    Attributes
    ----------
    config : IlpConfig
        How it was trained.
    linear : LinearParser
        Its scorer, with a search that does without programs.
    """

    config: IlpConfig
    linear: LinearParser

    @property
    def labels(self) -> tuple[str, ...]:
        return self.linear.labels

    @property
    def dev(self) -> DevScores | None:
        return self.linear.dev

    @property
    def treebank(self) -> str:
        return self.linear.treebank

    def parse(self, sentences: Iterable[Sentence]) -> Iterator[Sentence]:
        """The sentences with heads and labels, by relaxed programs."""
        return (self.parse_sentence(sentence) for sentence in sentences)

    def parse_sentence(self, sentence: Sentence, constraints: Constraints | None = None) -> Sentence:
        """The sentence with the tree of a relaxed program.

        Raises
        ------
        NoTreeError : the constraints allow no tree
        UnsupportedConstraint : for limits on the degree
        """
        return self.solve(sentence, constraints, exact=False).sentence

    def solve(
        self,
        sentence: Sentence,
        constraints: Constraints | None = None,
        *,
        rules: Sequence[Rule] = (),
        exact: bool = True,
        time_limit: float | None = None,
    ) -> Solved:
        """The sentence with the best tree under constraints and rules; see ``crossarc.ilp.solve``."""
        return solve_sentence(
            self.linear,
            sentence,
            constraints,
            kinds=self.config.kinds,
            rules=rules,
            exact=exact,
            time_limit=time_limit,
            solver=self.config.solver,
        )

    def save(self, path: str | Path) -> None:
        """Write the model to one file."""
        header, tensors = self.linear.to_model()
        save_model(path, {**header, "system": SYSTEM, "config": asdict(self.config)}, tensors)

    @classmethod
    def load(cls, path: str | Path) -> IlpParser:
        """Read a model from its file."""
        header, tensors = load_model(path)
        config = IlpConfig(**header["config"])
        scorer = LinearScorer.from_model(header, tensors, config.scorer, path)
        dev = DevScores(**header["dev"]) if header["dev"] else None
        return cls(config, LinearParser(config.linear, scorer, dev, header["treebank"]))
