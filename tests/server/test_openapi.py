"""The service keeps what its description promises, whatever is sent (schemathesis makes it up)."""

from __future__ import annotations

import warnings

import hypothesis
import pytest

from crossarc.server.app import make_app
from crossarc.server.handler import Handler
from crossarc.server.jobs import Limits, RequestError
from crossarc.server.registry import Registry
from crossarc.server.worker import answer

pytestmark = pytest.mark.slow

EXAMPLES = 30  # for each operation
LIMITS = Limits(size=100_000, length=40, k=8)


class Here:
    """A pool that does its work here and now."""

    def __init__(self, handler):
        self.handler = handler

    async def do(self, job):
        done = answer(self.handler, job)
        if isinstance(done, RequestError):
            raise done
        return done

    def stop(self):
        pass


def test_nothing_that_is_sent_breaks_the_description(text_model_file):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        schemathesis = pytest.importorskip("schemathesis")
        from schemathesis import checks

        handler = Handler(str(text_model_file), LIMITS.length)
        app = make_app(Here(handler), Registry({"m": handler.description}), LIMITS)
        schema = schemathesis.openapi.from_asgi("/api/openapi.json", app, headers={"Host": "localhost"})
        promises = (
            checks.not_a_server_error,
            checks.status_code_conformance,
            checks.content_type_conformance,
            checks.response_schema_conformance,
        )
        operations = [found.ok() for found in schema.get_all_operations()]
        assert len(operations) == 23
        for operation in operations:
            send(operation, promises)


def send(operation, promises):
    every = list(hypothesis.HealthCheck)

    @hypothesis.settings(max_examples=EXAMPLES, derandomize=True, database=None, suppress_health_check=every)
    @hypothesis.given(case=operation.as_strategy())
    def check(case):
        case.validate_response(case.call(headers={"Host": "localhost"}), checks=promises)

    check()
