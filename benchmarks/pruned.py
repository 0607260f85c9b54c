"""What a pruner left to a parser, as training tells it."""

from __future__ import annotations

from crossarc.parsers import TrainingListener

__all__ = ["Pruned"]


class Pruned(TrainingListener):
    """Remembers what the pruner left."""

    candidates = recall = 0.0

    def pruned(self, candidates: float, recall: float) -> None:
        self.candidates, self.recall = candidates, recall
