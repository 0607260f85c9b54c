"""Model files that are wrong in some way are refused, or parsed with: nothing else happens (see ``model_files``)."""

from __future__ import annotations

import sys

import pytest
from model_files import Report, Task, watch
from small_models import COMPILED_ANYWAY, MODELS

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="processes are watched as Linux does it")


def check(models: list[str], count: int, *, plain: bool) -> None:
    report = Report()
    watch([Task(model, 1, 1 + count) for model in models], report, plain=plain)
    assert not report.failures, str(report)
    for model in models:
        outcomes = report.outcomes[model]
        assert outcomes.total() == count
        assert outcomes["refused"] > 0.5 * count
        assert outcomes["parsed"] > 0.02 * count  # so that kernels meet strange numbers, too


def test_mutated_files_are_refused_or_parsed_with():
    check(list(COMPILED_ANYWAY), 80, plain=True)


@pytest.mark.slow
def test_more_of_them_for_every_system():
    check(list(MODELS), 250, plain=False)
