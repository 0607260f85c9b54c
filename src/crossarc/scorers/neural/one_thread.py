"""Matrix products on one thread: those of a network are small, and more threads would mostly wait for each other."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, wraps
from typing import ParamSpec, TypeVar

from threadpoolctl import ThreadpoolController

__all__ = ["on_one_thread"]

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")


def on_one_thread(function: Callable[Arguments, Result]) -> Callable[Arguments, Result]:
    """Let NumPy's BLAS compute on one thread while the function runs; what was set before comes back."""

    @wraps(function)
    def limited(*arguments: Arguments.args, **named: Arguments.kwargs) -> Result:
        with _libraries().limit(limits=1, user_api="blas"):
            return function(*arguments, **named)

    return limited


@cache
def _libraries() -> ThreadpoolController:
    """Looking for them takes milliseconds; setting their threads takes microseconds."""
    return ThreadpoolController()
