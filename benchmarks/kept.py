"""Figures that take long to measure: each is kept in a file as soon as it is there, and not measured again."""

from __future__ import annotations

import json
import multiprocessing
from collections.abc import Callable, Mapping
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path
from typing import Any


def kept_figures(
    file: Path | None,
    work: Mapping[str, tuple[Callable[..., dict[str, Any]], *tuple[Any, ...]]],
    *,
    again: bool,
    jobs: int,
) -> dict[str, Any]:
    """All figures, by name: those in the file, and those of the work that is not there yet (or of all, ``again``).

    A piece of work is a function and its arguments. It runs in a process of its own: its memory is its own. Without
    a file nothing is kept.
    """
    done: dict[str, Any] = json.loads(file.read_text()) if file is not None and file.exists() else {}
    with ProcessPoolExecutor(jobs, multiprocessing.get_context("spawn"), max_tasks_per_child=1) as pool:
        started = {pool.submit(*call): name for name, call in work.items() if again or name not in done}
        for future in as_completed(started):
            name = started[future]
            done[name] = future.result()
            if file is not None:
                file.write_text(json.dumps(dict(sorted(done.items())), indent=2) + "\n")
            print(name, json.dumps(done[name]), flush=True)
    return dict(sorted(done.items()))
