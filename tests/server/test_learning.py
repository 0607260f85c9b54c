"""Learning through the service: a training in the background, then one more model."""

from __future__ import annotations

import time

import pytest
from fastapi.testclient import TestClient

from crossarc.io.conllu import format_sentence
from crossarc.server.app import make_app
from crossarc.server.jobs import Limits, RequestError
from crossarc.server.registry import Registry
from crossarc.server.worker import _Models, answer
from trained import TEST, TRAIN

pytestmark = pytest.mark.slow

LIMITS = Limits(length=60)
GOLD = "".join(map(format_sentence, TRAIN[:40]))


class Here:
    """A pool that does its work here and now, with the models of a worker."""

    def __init__(self, models):
        self.models = models

    async def do(self, job):
        done = answer(self.models.of(job), job)
        if isinstance(done, RequestError):
            raise done
        return done

    def stop(self):
        pass


@pytest.fixture
def client(model_file):
    models = _Models({"first": str(model_file)}, LIMITS)
    registry = Registry({"first": models.handlers["first"].description})
    with TestClient(make_app(Here(models), registry, LIMITS), base_url="http://127.0.0.1") as client:
        yield client


def wait_for(client, state):
    until = time.monotonic() + 600
    while time.monotonic() < until:
        progress = client.get("/api/learn").json()
        if progress["state"] != "learning":
            assert progress["state"] == state, progress
            return progress
        time.sleep(0.2)
    raise AssertionError("it does not end")


def test_what_was_learnt_is_one_more_model(client):
    assert client.get("/api/learn").json()["state"] == "idle"
    assert client.post("/api/learn", json={"text": GOLD}).json()["state"] == "learning"
    again = client.post("/api/learn", json={"text": GOLD})
    assert again.status_code == 409
    assert "under way" in again.json()["error"]
    name = wait_for(client, "done")["model"]
    assert [model["name"] for model in client.get("/api/models").json()["models"]] == ["first", name]
    text = "".join(map(format_sentence, TEST[:10]))
    reply = client.post("/api/parse", json={"text": text, "format": "conllu", "model": name, "judge": True})
    sentences = reply.json()["sentences"]
    right = sum(
        int(head) == arc["head"]
        for gold, sentence in zip(TEST, sentences, strict=False)
        for head, arc in zip(gold.head, sentence["trees"][0]["arcs"], strict=True)
    )
    assert right > 0.5 * sum(len(sentence) for sentence in TEST[:10])
    assert all(arc["labelled"] is not None for sentence in sentences for arc in sentence["given"])
    result = client.post("/process", data={"data": text, "model": name, "parser": ""})
    assert result.json()["model"] == name


def test_learning_can_be_stopped(client):
    client.post("/api/learn", json={"text": GOLD})
    assert client.delete("/api/learn").json()["state"] == "idle"
    assert client.get("/api/learn").json()["state"] == "idle"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "0 trees: accept at least 2"),
        (format_sentence(TRAIN[0]), "1 trees"),
        ("1\tx\n\n", "2 columns instead of 10"),
    ],
)
def test_what_cannot_be_learnt_from(client, text, message):
    reply = client.post("/api/learn", json={"text": text})
    assert reply.status_code == 400
    assert message in reply.json()["error"]
