"""What runs in a worker process: models are loaded once, jobs come and answers go through a pipe."""

from __future__ import annotations

import json
import logging
import signal
from collections.abc import Mapping
from multiprocessing.connection import Connection

from crossarc.core import CrossarcError, InputError
from crossarc.pipeline.processes import end_with_parent
from crossarc.server import log
from crossarc.server.handler import Handler
from crossarc.server.jobs import Answer, Job, Limits, Parse, RequestError

__all__ = ["answer", "work"]


def work(pipe: Connection, paths: Mapping[str, str], limits: Limits) -> None:
    """Do jobs until the other end of the pipe is closed."""
    log.set_up()  # it says why the first start takes a while
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the service, which closes the pipe
    end_with_parent()
    try:
        models = _Models(paths, limits)
        for handler in models.handlers.values():
            handler.warm_up()
    except CrossarcError as error:
        pipe.send(RequestError(500, str(error)))
        return
    pipe.send({name: handler.description for name, handler in models.handlers.items()})
    while True:
        try:
            job = pipe.recv()
        except EOFError:
            return
        try:
            handler = models.of(job)
        except CrossarcError as error:
            pipe.send(RequestError(500, str(error)))
        else:
            pipe.send(answer(handler, job))


class _Models:
    """The models that a process has loaded: those of the start, and of those that joined later the last."""

    def __init__(self, paths: Mapping[str, str], limits: Limits) -> None:
        self.handlers = {name: Handler(path, limits.length, limits.words) for name, path in paths.items()}
        self._limits = limits
        self._joined: tuple[str, Handler] | None = None

    def of(self, job: Job) -> Handler:
        if job.path is None:
            return self.handlers[job.model]
        if self._joined is None or self._joined[0] != job.path:
            self._joined = job.path, Handler(job.path, self._limits.length, self._limits.words)
        return self._joined[1]


def answer(handler: Handler, job: Job) -> Answer | RequestError:
    """Do a job; whatever goes wrong is an answer too."""
    try:
        if isinstance(job, Parse):
            return Answer(json.dumps({"model": job.model, "sentences": handler.parse(job)}, ensure_ascii=False))
        return Answer(handler.process(job))
    except RequestError as refused:
        return refused
    except InputError as error:
        return RequestError(400, error.message, error.place.line or None, error.place.sent_id)
    except CrossarcError as error:
        return RequestError(400, str(error))
    except Exception:
        logging.getLogger(__name__).exception("a request failed")
        return RequestError(500, "an error of the server, which has noted it")
