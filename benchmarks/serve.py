"""A load on `crossarc serve`: `python benchmarks/serve.py -m MODEL [--clients 64] [--seconds 60]`.

Starts the service, lets that many clients ask at once, each one request after the other, and checks every reply: it
must have the words that were sent, in an order that no other request has, and the arcs that were required. Prints how
many requests were answered, how long they took, and the memory of the service and its workers (Linux) after some
seconds of the same load, and at the end. The exit code is 1 if a reply was lost or not the right one. Uses the standard
library and Crossarc with its extra `serve`.
"""

from __future__ import annotations

import argparse
import http.client
import json
import random
import re
import signal
import statistics
import subprocess
import sys
import threading
import time
from collections import Counter
from pathlib import Path
from urllib.parse import urlencode

VOCABULARY = 2000  # words; what is known of a word is kept, so that memory grows with new ones until enough are known
WARM_UP = 8.0  # seconds: then all workers have loaded their models


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-m", "--model", default="en")
    parser.add_argument("--clients", type=int, default=64)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    command = [
        sys.executable,
        "-m",
        "crossarc",
        "serve",
        "-m",
        options.model,
        "--port",
        "0",
        "--jobs",
        str(options.jobs),
    ]
    service = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        assert service.stdout is not None
        address = re.search(r"http://([\d.]+):(\d+)/", service.stdout.readline())
        if address is None:
            sys.exit("the service did not start")
        figures = load(address[1], int(address[2]), service.pid, options.clients, options.seconds)
    finally:
        service.send_signal(signal.SIGINT)
        service.wait(30)
    print(json.dumps(figures, indent=2))
    sys.exit(1 if figures["wrong"] or figures["failed"] else 0)


def load(host: str, port: int, process: int, clients: int, seconds: float) -> dict[str, object]:
    """Figures of that load, after a while of it."""
    crowd(host, port, clients, WARM_UP)
    before = memory(process)
    people = crowd(host, port, clients, seconds)
    after = memory(process)
    times = [t for person in people for t in person.times]
    outcomes = sum((person.outcomes for person in people), Counter[str]())
    return {
        "clients": clients,
        "seconds": seconds,
        "right": outcomes["right"],
        "wrong": outcomes["wrong"],
        "failed": outcomes["failed"],
        "refused (503)": outcomes["refused"],
        "requests per second": round(len(times) / seconds, 1),
        "median ms": round(1000 * statistics.median(times), 1),
        "99 % ms": round(1000 * statistics.quantiles(times, n=100)[98], 1),
        "MB before": before,
        "MB after": after,
    }


def crowd(host: str, port: int, clients: int, seconds: float) -> list[Client]:
    """Clients that have asked for some seconds."""
    end = time.monotonic() + seconds
    people = [Client(host, port, number, end) for number in range(clients)]
    for person in people:
        person.start()
    for person in people:
        person.join()
    return people


class Client(threading.Thread):
    """Asks, checks, asks again."""

    def __init__(self, host: str, port: int, number: int, end: float) -> None:
        super().__init__()
        self.connection = http.client.HTTPConnection(host, port, timeout=120)
        self.number = number
        self.end = end
        self.random = random.Random(number)
        self.times: list[float] = []
        self.outcomes: Counter[str] = Counter()

    def run(self) -> None:
        asked = 0
        while time.monotonic() < self.end:
            asked += 1
            words = [f"w{self.random.randrange(VOCABULARY)}" for _ in range(self.random.randint(6, 25))]
            start = time.monotonic()
            try:
                outcome = self.ask_udpipe(words) if asked % 2 else self.ask_ours(words)
            except (OSError, http.client.HTTPException, ValueError, KeyError) as error:
                print(f"client {self.number}: {error!r}", file=sys.stderr)
                self.connection.close()
                outcome = "failed"
            self.times.append(time.monotonic() - start)
            self.outcomes[outcome] += 1
        self.connection.close()

    def ask_udpipe(self, words: list[str]) -> str:
        body = urlencode({"data": " ".join(words), "input": "horizontal", "parser": ""})
        status, reply = self.post("/process", body, "application/x-www-form-urlencoded")
        if status != 200:
            return "refused" if status == 503 else "failed"
        rows = [line.split("\t") for line in json.loads(reply)["result"].strip().split("\n")]
        good = [row[1] for row in rows] == words and all(row[6].isdecimal() for row in rows)
        return "right" if good else "wrong"

    def ask_ours(self, words: list[str]) -> str:
        text = "".join(f"{i}\t{word}\t_\tX\t_\t_\t_\t_\t_\t_\n" for i, word in enumerate(words, 1)) + "\n"
        word = self.random.randrange(2, len(words) + 1)
        request = {"text": text, "format": "conllu", "k": 3, "constraints": [{"word": word, "head": word - 1}]}
        status, reply = self.post("/api/parse", json.dumps(request), "application/json")
        if status != 200:
            return "refused" if status == 503 else "failed"
        (sentence,) = json.loads(reply)["sentences"]
        good = [row["form"] for row in sentence["words"]] == words and all(
            tree["arcs"][word - 1]["head"] == word - 1 for tree in sentence["trees"]
        )
        return "right" if good else "wrong"

    def post(self, path: str, body: str, kind: str) -> tuple[int, bytes]:
        self.connection.request("POST", path, body.encode(), {"Content-Type": kind})
        reply = self.connection.getresponse()
        return reply.status, reply.read()


def memory(process: int) -> float | None:
    """Megabytes of a process and of those that it started; None where the system does not tell."""
    try:
        children = Path(f"/proc/{process}/task/{process}/children").read_text().split()
        pages = [int(Path(f"/proc/{one}/statm").read_text().split()[1]) for one in [process, *children]]
    except OSError:
        return None
    return round(sum(pages) * 4096 / 1e6, 1)


if __name__ == "__main__":
    main()
