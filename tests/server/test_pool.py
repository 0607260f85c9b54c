"""Processes that work, are slow, or die; none of them knows a model."""

from __future__ import annotations

import asyncio

import pytest

import obedient
from crossarc.core import CrossarcError
from crossarc.server.jobs import Limits, Parse, RequestError
from crossarc.server.pool import Pool


def run(scenario, *, workers=2, work=obedient.work, **limits):
    """Run a scenario with a pool."""

    async def inside():
        pool = Pool({"m": "secret/path"}, Limits(**limits), workers, work)
        try:
            pool.start()
            return await scenario(pool)
        finally:
            pool.stop()

    return asyncio.run(inside())


async def ask(pool, text):
    return (await pool.do(Parse("m", text, "conllu"))).content.split(" ", 1)


async def outcome(pool, text):
    try:
        return (await ask(pool, text))[1]
    except RequestError as refused:
        return refused.status


def test_every_answer_belongs_to_its_request():
    async def scenario(pool):
        texts = [f"job {i}" for i in range(300)]
        answers = await asyncio.gather(*(ask(pool, text) for text in texts))
        assert [answer for _, answer in answers] == texts
        assert len({process for process, _ in answers}) == 2

    run(scenario)


def test_a_slow_worker_is_stopped_and_replaced():
    async def scenario(pool):
        before = pool.process_ids()
        await asyncio.gather(*(outcome(pool, "sleep 0.1") for _ in before))  # both are there
        found = await asyncio.gather(*(outcome(pool, text) for text in ["sleep 60", "a", "b", "sleep 60", "c"]))
        assert found == [504, "a", "b", 504, "c"]
        assert await outcome(pool, "d") == "d"
        assert len(set(before) & set(pool.process_ids())) <= 1

    run(scenario, seconds=3.0)


def test_a_dead_worker_is_replaced():
    async def scenario(pool):
        found = [await outcome(pool, text) for text in ["die", "a", "die", "die", "b"]]
        assert found == [500, "a", 500, 500, "b"]

    run(scenario, workers=1)


def test_a_refusal_is_handed_on_and_the_worker_stays():
    async def scenario(pool):
        before = pool.process_ids()
        with pytest.raises(RequestError, match="no tree"):
            await ask(pool, "refuse no tree")
        assert await outcome(pool, "a") == "a"
        assert pool.process_ids() == before

    run(scenario, workers=1)


def test_too_many_that_wait_are_refused():
    async def scenario(pool):
        found = await asyncio.gather(*(outcome(pool, text) for text in ["sleep 0.5", "a", "b", "c"]))
        assert found == ["sleep 0.5", "a", "b", 503]

    run(scenario, workers=1, waiting=3)


def test_whoever_leaves_takes_no_worker_along():
    async def scenario(pool):
        leaving = asyncio.ensure_future(ask(pool, "sleep 0.3"))
        await asyncio.sleep(0.1)
        leaving.cancel()
        assert await outcome(pool, "a") == "a"  # not the answer to the request that was left

    run(scenario, workers=1)


def test_work_for_those_who_left_is_ended():
    async def scenario(pool):
        (before,) = pool.process_ids()
        leaving = asyncio.ensure_future(ask(pool, "sleep 600"))
        await asyncio.sleep(0.3)
        leaving.cancel()
        assert await outcome(pool, "a") == "a"
        assert pool.process_ids() != [before]
        assert pool.state()["workers_replaced_total"] == 1

    run(scenario, workers=1)


def test_a_worker_that_does_not_read_is_replaced():
    async def scenario(pool):
        assert await outcome(pool, "a" * 1_000_000) == 504
        assert await outcome(pool, "a") == 504

    run(scenario, workers=1, seconds=1.0, work=obedient.be_deaf)


def test_a_model_that_cannot_be_loaded_is_an_error_at_the_start():
    with pytest.raises(CrossarcError, match="not a model file"):
        run(None, work=obedient.fail)
