"""The service against clients that are slow, leave, pretend or come in crowds; workers that know no model."""

from __future__ import annotations

import asyncio
import http.client
import json
import resource
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.request
from contextlib import ExitStack
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from fastapi.testclient import TestClient
from pydantic import ValidationError

import obedient
from crossarc.server import arborator, folder_interface, inception, interface, learning
from crossarc.server.access import Access
from crossarc.server.app import make_app
from crossarc.server.jobs import Answer, Description, Limits
from crossarc.server.registry import Registry

FEW_FILES = 220  # that the service may have open: room for 60 connections


def start(workers):
    """A service with obedient workers: its process, host and port."""
    command = [sys.executable, obedient.__file__, str(workers)]
    process = subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (FEW_FILES, FEW_FILES)),
    )
    address = urlsplit(process.stdout.readline())
    return process, (address.hostname, address.port)


@pytest.fixture(scope="module")
def running():
    """A service: its process and address."""
    process, address = start(1)
    yield process, address
    process.kill()
    process.communicate()


@pytest.fixture
def service(running):
    return running[1]


def ask(address, text):
    body = json.dumps({"text": text}).encode()
    request = urllib.request.Request(
        "http://{}:{}/api/parse".format(*address), body, {"Content-Type": "application/json"}
    )
    with urllib.request.urlopen(request, timeout=120) as reply:
        return reply.read().decode().split(" ", 1)[1]


def metrics(address):
    with urllib.request.urlopen("http://{}:{}/metrics".format(*address)) as reply:
        lines = [line.split() for line in reply.read().decode().splitlines() if not line.startswith("#")]
    return {name: float(value) for name, value in lines}


def wait_for(condition):
    for _ in range(1200):
        if condition():
            return
        time.sleep(0.05)
    raise AssertionError("a minute was not enough")


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="asks Linux which connections there are")
def test_replies_that_nobody_takes_are_in_nobodys_way(running):
    process, address = running
    body = b'{"text": "say 20000000"}'  # more than the operating system keeps for a client
    head = (
        b"POST /api/parse HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"
    )
    assert ask(address, "hello") == "hello"
    before = open_files(process)
    with ExitStack() as deaf:
        for _ in range(3):
            connection = deaf.enter_context(socket.create_connection(address))
            connection.sendall(head % len(body) + body)
        assert ask(address, "hello") == "hello"
        assert open_files(process) > before
        wait_for(lambda: open_files(process) == before)


def open_files(process):
    """How many files and connections a process has open."""
    return len(list(Path(f"/proc/{process.pid}/fd").iterdir()))


def test_half_sent_heads_are_in_nobodys_way(service):
    slow = []
    for _ in range(100):  # more than there is room for
        connection = socket.create_connection(service)
        connection.sendall(b"GET /models HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: ")
        slow.append(connection)
    assert ask(service, "hello") == "hello"
    for connection in slow:
        connection.settimeout(60)
        assert closed(connection)


def closed(connection):
    """Whether the other side ends the connection."""
    with connection:
        try:
            return connection.recv(1000) == b""
        except ConnectionResetError:
            return True


def test_slow_heads_of_later_requests(service):
    with socket.create_connection(service, timeout=60) as connection:
        connection.sendall(b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert connection.recv(10_000).startswith(b"HTTP/1.1 200")
        connection.sendall(b"GET /health HTTP/1.1\r\nHost: loc")
        while True:
            try:
                if not connection.recv(10_000):
                    break
            except ConnectionResetError:
                break


def test_work_for_clients_that_left_is_ended(service):
    before = metrics(service)
    for _ in range(2):
        connection = http.client.HTTPConnection(*service)
        body = json.dumps({"text": "sleep 600"})
        connection.request("POST", "/api/parse", body, {"Content-Type": "application/json"})
        connection.close()
    assert ask(service, "hello") == "hello"
    after = metrics(service)
    assert after["crossarc_clients_left_total"] == before["crossarc_clients_left_total"] + 2
    assert after["crossarc_workers_replaced_total"] > before["crossarc_workers_replaced_total"]


def test_health(service):
    with urllib.request.urlopen("http://{}:{}/health".format(*service)) as reply:
        found = json.load(reply)
    assert found["status"] == "ok"
    assert found["workers"] == 1


@pytest.mark.parametrize("lines", [1, 5000])
def test_long_heads_are_refused(service, lines):
    with socket.create_connection(service, timeout=60) as connection:
        line = "X: " + "a" * (100_000 // lines) + "\r\n"
        connection.sendall(f"GET / HTTP/1.1\r\nHost: localhost\r\n{line * lines}\r\n".encode())
        assert connection.recv(1000).startswith((b"HTTP/1.1 400", b"HTTP/1.1 431"))


@pytest.mark.parametrize("sent", [signal.SIGTERM, signal.SIGINT])
def test_no_reply_is_lost_when_it_ends(sent):
    process, address = start(2)
    replies = []
    clients = [threading.Thread(target=lambda: replies.append(ask(address, "sleep 0.7"))) for _ in range(6)]
    try:
        for client in clients:
            client.start()
        wait_for(lambda: metrics(address)["crossarc_requests_running"] == 7)  # this question is one
        process.send_signal(sent)
        for client in clients:
            client.join()
        assert replies == ["sleep 0.7"] * 6
        assert process.wait(60) in (0, -sent)
        assert "Traceback" not in process.stderr.read() or sent == signal.SIGINT
    finally:
        process.kill()
        process.communicate()


def test_workers_end_with_a_killed_service():
    process, _ = start(2)
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
    if not children.exists():
        pytest.skip("asks Linux which processes there are")
    workers = [Path(f"/proc/{number}") for number in children.read_text().split()]
    assert len(workers) >= 2
    process.kill()
    process.communicate()
    wait_for(lambda: not any(worker.exists() for worker in workers))


# ---- who may ask -----------------------------------------------------------------------------------------------------


class Echo:
    """A pool that answers at once."""

    async def do(self, job):
        return Answer("{}")

    def state(self):
        return {"workers": 1}

    def stop(self):
        pass


def application(limits=None, **access):
    registry = Registry({"m": Description(("parser",), ("x",), True, True, "")})
    return make_app(Echo(), registry, limits or Limits(), Access(**access))


def client(limits=None, base_url="http://localhost:8000", **access):
    return TestClient(application(limits, **access), base_url=base_url, raise_server_exceptions=False)


PARSE = {"url": "/api/parse", "json": {"text": "a"}}


@pytest.mark.parametrize("url", ["http://evil.example", "http://evil.example:8000", "http://127.0.0.1.evil.example"])
@pytest.mark.parametrize("path", ["/", "/models", "/api/models", "/health"])
def test_other_names_are_not_answered_to(url, path):
    """A page whose name has been made to mean this machine (DNS rebinding)."""
    assert client(base_url=url).get(path).status_code == 403


@pytest.mark.parametrize("url", ["http://localhost:1", "http://127.0.0.1", "http://[::1]:8000", "http://LOCALHOST"])
def test_names_of_this_machine_are_answered_to(url):
    assert client(base_url=url).get("/models").status_code == 200


def test_names_that_are_allowed():
    assert client(base_url="http://parser.example", hosts=frozenset({"parser.example"})).get("/").status_code == 200
    assert client(base_url="http://any.example", hosts=frozenset("*")).get("/").status_code == 200
    assert client().get("/", headers={"Host": ""}).status_code == 403


@pytest.mark.parametrize("origin", ["https://evil.example", "null", "http://localhost.evil.example"])
def test_pages_of_other_sites_may_not_ask(origin):
    for headers in ({"Origin": origin}, {"Sec-Fetch-Site": "cross-site"}):
        assert client().post(**PARSE, headers=headers).status_code == 403
        assert client().get("/process?data=a", headers=headers).status_code == 403
    reply = client().get("/models")
    assert "access-control-allow-origin" not in reply.headers


def test_our_own_page_may_ask():
    assert client().post(**PARSE, headers={"Origin": "http://localhost:8000"}).status_code == 200
    assert client().get("/", headers={"Sec-Fetch-Site": "cross-site"}).status_code == 200  # a link to it


def test_cors_when_it_is_asked_for():
    some = client(origins=frozenset({"https://friend.example"}))
    reply = some.get("/process?data=a", headers={"Origin": "https://friend.example"})
    assert reply.status_code == 200
    assert reply.headers["access-control-allow-origin"] == "https://friend.example"
    assert some.get("/models", headers={"Origin": "https://evil.example"}).status_code == 403
    assert some.post(**PARSE, headers={"Origin": "https://friend.example"}).status_code == 403
    anybody = client(origins=frozenset("*")).get("/models", headers={"Origin": "https://x.example"})
    assert anybody.headers["access-control-allow-origin"] == "*"


def test_a_token():
    guarded = client(token="secret")
    for path in ("/models", "/metrics", "/api/models", "/process?data=a", "/process?data=a&token=wrong"):
        assert guarded.get(path).status_code == 401
    reply = guarded.post(**PARSE)
    assert reply.status_code == 401
    assert set(reply.json()) == {"error", "line", "sentence"}
    assert guarded.post(**PARSE, headers={"Authorization": "Bearer wrong"}).status_code == 401
    assert guarded.post(**PARSE, headers={"Authorization": "Bearer secret"}).status_code == 200
    assert guarded.get("/process?data=a&token=secret").status_code == 200
    assert guarded.get("/health").status_code == guarded.get("/").status_code == 200


def test_the_page_remembers_its_token():
    guarded = client(token="secret")
    assert "set-cookie" not in guarded.get("/?token=wrong").headers
    cookie = guarded.get("/?token=secret").headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=Strict" in cookie
    assert guarded.post(**PARSE).status_code == 200  # the client has it now


# ---- requests that are too much --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "body",
    [
        '{"text": "a", "k": ' + "9" * 5000 + "}",
        '{"text": "a", "constraints": [{"word": ' + "9" * 5000 + "}]}",
        '{"text": "a", "constraints": [{"word": 1, "head": 99999999999}]}',
        '{"text": ' + "[" * 100_000 + "]" * 100_000 + "}",
        '{"text": "a", "constraints": [' + ",".join(["0"] * 500_000) + "]}",
        '{"text": "a", "constraints": [' + ",".join(['{"word": 1}'] * 3000) + "]}",
        '{"text": "a", "constraints": [{"word": 1, "not_heads": [' + ",".join(["2"] * 2000) + "]}]}",
        '{"text": "\\ud800", "k": "x"}',
        "\x00",
    ],
)
def test_bodies_that_are_too_much(body):
    reply = client().post("/api/parse", content=body, headers={"Content-Type": "application/json"})
    assert reply.status_code in (400, 422)
    assert set(reply.json()) == {"error", "line", "sentence"}
    assert len(reply.content) < 1000


MANY = 1000
WRONG = [
    (interface.ParseRequest, {f"x{i}": 1 for i in range(MANY)}),
    (interface.ParseRequest, {"text": "a", "constraints": [{f"x{i}": 1 for i in range(MANY)}] * MANY}),
    (interface.ParseRequest, {"text": "a", "constraints": [{"word": "x"}] * MANY}),
    (interface.ParseRequest, {"text": "a", "constraints": [{"word": 1}] * 9 * MANY}),
    (interface.ParseRequest, {"text": "a", "constraints": [{"word": 1, "not_heads": ["x"] * 9 * MANY}]}),
    (learning.LearnRequest, {f"x{i}": 1 for i in range(MANY)}),
    (folder_interface.Saving, {f"x{i}": 1 for i in range(MANY)}),
    (arborator.TrainStart, {"project_name": "a", "train_samples": {str(i): i for i in range(MANY)}}),
    (arborator.ParseStart, {"model_info": {}, "to_parse_samples": {str(i): i for i in range(MANY)}}),
    (inception.TrainingRequest, {"metadata": {}, "documents": [0] * MANY, "typeSystem": ""}),
]


@pytest.mark.parametrize(("kind", "body"), WRONG)
def test_not_all_that_is_wrong_is_listed(kind, body):
    """Nobody else is served meanwhile."""
    with pytest.raises(ValidationError) as caught:
        kind.model_validate(body)
    assert caught.value.error_count() < 10
    assert all(len(error["msg"]) < 100 for error in caught.value.errors())


def test_a_field_that_does_not_exist():
    reply = client().post("/api/parse", json={"text": "a", "x" * 1000: 1})
    assert reply.status_code == 422
    assert reply.json()["error"].startswith("there is no field 'xxx")
    assert len(reply.content) < 200
    reply = client().post("/api/parse", json={"text": "a", "constraints": [{"word": 1, "hed": 2}]})
    assert reply.json()["error"] == "constraints.0: there is no field 'hed'"


def test_too_many_parameters():
    assert client().get("/process?" + "&".join(f"a{i}=1" for i in range(100))).status_code == 400


def test_long_addresses():
    reply = client(Limits(head=1000)).get("/api/models?" + "a" * 1000)
    assert reply.status_code == 431
    assert set(reply.json()) == {"error", "line", "sentence"}


@pytest.mark.parametrize(
    ("path", "kind", "begin"),
    [
        ("/api/parse", b"application/json", b'{"text": '),
        ("/process", b"application/x-www-form-urlencoded", b"data=a"),
        ("/process", b"multipart/form-data; boundary=x", b"--x"),
    ],
)
def test_bodies_that_do_not_arrive(path, kind, begin):
    parts = [{"type": "http.request", "body": begin, "more_body": True}]
    head = {"headers": [(b"host", b"localhost"), (b"content-type", kind)], "query_string": b""}
    scope = {"type": "http", "method": "POST", "path": path, "raw_path": path.encode(), **head}
    sent = []

    async def receive():
        return parts.pop() if parts else await asyncio.get_running_loop().create_future()  # nothing more comes

    async def send(message):
        sent.append(message)

    asyncio.run(application(Limits(seconds=0.05))(scope, receive, send))
    assert sent[0]["status"] == 408
    assert b"did not arrive within 0.05 seconds" in sent[1]["body"]


def test_too_many_requests_at_once():
    reply = client(Limits(requests=0)).get("/api/models")
    assert reply.status_code == 503
    assert set(reply.json()) == {"error", "line", "sentence"}
