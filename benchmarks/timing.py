"""Medians of interleaved repetitions (ours, a peer, ours, the next peer, ...): noise then falls on all."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping

Call = Callable[[], object]
Time = Callable[[], float]  # time.perf_counter, or time.process_time where the machine is busy

_SHORTEST_SAMPLE = 1e-3  # seconds; faster calls are repeated within a sample
_SHORTEST_SAMPLE_OF_PROCESSOR_TIME = 2e-2  # reading that clock can take many microseconds
_MOST_SAMPLES = 101


def medians(
    ours: Call, peers: Mapping[str, Call], *, seconds: float, time_of: Time = time.perf_counter
) -> tuple[float, dict[str, float]]:
    """Seconds per call: of `ours`, and of each peer. Every sample of a peer comes right after one of ours.

    A peer is sampled until it has had `seconds`, but at least once. All must have been called before.
    """
    our_clock, clocks = _Clock(ours, time_of), {name: _Clock(call, time_of) for name, call in peers.items()}
    waiting = list(clocks.values())
    while waiting:
        for clock in waiting:
            our_clock.sample()
            clock.sample()
        waiting = [clock for clock in waiting if not clock.had(seconds)]
    return our_clock.median(), {name: clock.median() for name, clock in clocks.items()}


def median(call: Call, *, seconds: float) -> float:
    """Seconds per call, of one that has been called before."""
    clock = _Clock(call, time.perf_counter)
    while not clock.had(seconds):
        clock.sample()
    return clock.median()


def medians_of_rounds(calls: Mapping[str, Call], rounds: int) -> dict[str, float]:
    """Seconds per call: in each round, every call has its turn."""
    samples: dict[str, list[float]] = {name: [] for name in calls}
    for _ in range(rounds):
        for name, call in calls.items():
            start = time.perf_counter()
            call()
            samples[name].append(time.perf_counter() - start)
    return {name: statistics.median(times) for name, times in samples.items()}


class _Clock:
    """The samples of one call; the first is thrown away when it was too short to be exact."""

    def __init__(self, call: Call, time_of: Time) -> None:
        self._call, self._time_of = call, time_of
        self._repeats = 1
        self._samples: list[float] = []
        self.sample()
        shortest = _SHORTEST_SAMPLE_OF_PROCESSOR_TIME if time_of is time.process_time else _SHORTEST_SAMPLE
        if self._samples[0] < shortest:
            self._repeats = round(shortest / self._samples.pop()) + 1

    def sample(self) -> None:
        start = self._time_of()
        for _ in range(self._repeats):
            self._call()
        self._samples.append((self._time_of() - start) / self._repeats)

    def had(self, seconds: float) -> bool:
        return len(self._samples) >= _MOST_SAMPLES or sum(self._samples) * self._repeats >= seconds

    def median(self) -> float:
        return statistics.median(self._samples)
