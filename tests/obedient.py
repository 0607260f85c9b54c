"""A worker process that does as it is told, without any model."""

from __future__ import annotations

import os
import time

from crossarc.server.jobs import Answer, Description, RequestError


def work(pipe, paths, limits):
    pipe.send({name: Description(("parser",), ("x",), True, True, "") for name in paths})
    while True:
        try:
            job = pipe.recv()
        except EOFError:
            return
        order, _, argument = job.text.partition(" ")
        if order == "sleep":
            time.sleep(float(argument))
        elif order == "die":
            os._exit(1)
        elif order == "refuse":
            pipe.send(RequestError(400, argument))
            continue
        pipe.send(Answer(f"{os.getpid()} {job.text}"))


def fail(pipe, paths, limits):
    pipe.send(RequestError(500, f"{paths['m']}: not a model file"))
