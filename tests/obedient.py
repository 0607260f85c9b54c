"""A worker process that does as it is told, without any model; as a script, a service with such workers."""

from __future__ import annotations

import os
import sys
import time

from crossarc.server.jobs import Answer, Description, Limits, Parse, RequestError


def work(pipe, paths, limits):
    pipe.send({name: Description(("parser",), ("x",), True, True, "") for name in paths})
    while True:
        try:
            job = pipe.recv()
        except EOFError:
            return
        order, _, argument = (job.text if isinstance(job, Parse) else job.data).partition(" ")
        if order == "sleep":
            time.sleep(float(argument))
        elif order == "say":
            argument = "a" * int(argument)
        elif order == "die":
            os._exit(1)
        elif order == "refuse":
            pipe.send(RequestError(400, argument))
            continue
        pipe.send(Answer(f"{os.getpid()} {order} {argument}".strip()))


def fail(pipe, paths, limits):
    pipe.send(RequestError(500, f"{paths['m']}: not a model file"))


def be_deaf(pipe, paths, limits):
    """Never read what is sent."""
    pipe.send({name: Description(("parser",), ("x",), True, True, "") for name in paths})
    time.sleep(600)


def main() -> None:
    """Serve; the argument is the number of workers. The address is printed."""
    from crossarc.server.pool import Pool
    from crossarc.server.run import serve

    limits = Limits(seconds=20.0, head_seconds=2.0, reply_seconds=2.0)
    pool = Pool({"m": "secret/path"}, limits, int(sys.argv[1]), work)
    serve(pool, "127.0.0.1", 0, limits, lambda address: print(address, flush=True))


if __name__ == "__main__":
    main()
