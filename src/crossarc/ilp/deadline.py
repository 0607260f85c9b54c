"""One time limit for all stages that a program goes through."""

from __future__ import annotations

import time
from typing import NamedTuple

from crossarc._jit import seconds_of_compiling

__all__ = ["Deadline"]


def now() -> float:
    """The clock of all stages, in seconds; it stands still while kernels are compiled, which happens once."""
    return time.monotonic() - seconds_of_compiling()


class Deadline(NamedTuple):
    """When a program must have its tree.

    Attributes
    ----------
    limit : float
        Seconds from the beginning; infinite if there is all the time in the world.
    end : float
        On the clock of ``now``.
    """

    limit: float
    end: float

    @classmethod
    def after(cls, seconds: float | None) -> Deadline:
        """That many seconds from now; None: never."""
        limit = float("inf") if seconds is None else seconds
        return cls(limit, now() + limit)

    @property
    def left(self) -> float:
        """Seconds."""
        return max(self.end - now(), 0.0)

    @property
    def is_over(self) -> bool:
        return now() >= self.end

    def at_least(self, seconds: float) -> Deadline:
        """The same, but not before that many seconds have passed from now."""
        return self._replace(end=max(self.end, now() + seconds))

    def keeping(self, share: float) -> Deadline:
        """The deadline of a stage that leaves this share of the whole time to those after it."""
        return self if self.limit == float("inf") else self._replace(end=self.end - share * self.limit)
