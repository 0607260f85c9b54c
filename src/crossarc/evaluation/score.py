"""Counts of what was right, and the rates made of them."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Score"]


@dataclass(slots=True)
class Score:
    """How many there are in the gold file, in the system's file, and how many of these are right.

    ``aligned`` is the number of gold items whose counterpart the system has at all; it is ``gold`` when both files
    are split into words in the same way.
    """

    gold: int = 0
    system: int = 0
    correct: int = 0
    aligned: int = 0

    @property
    def precision(self) -> float:
        return self.correct / self.system if self.system else 0.0

    @property
    def recall(self) -> float:
        return self.correct / self.gold if self.gold else 0.0

    @property
    def f1(self) -> float:
        total = self.gold + self.system
        return 2 * self.correct / total if total else 0.0

    @property
    def aligned_accuracy(self) -> float:
        return self.correct / self.aligned if self.aligned else 0.0

    def as_dict(self) -> dict[str, float]:
        """Counts, and rates in per cent."""
        return {
            "gold": self.gold,
            "system": self.system,
            "correct": self.correct,
            "aligned": self.aligned,
            "precision": 100 * self.precision,
            "recall": 100 * self.recall,
            "f1": 100 * self.f1,
        }
