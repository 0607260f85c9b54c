"""What is logged cannot pretend to be more than one record."""

from __future__ import annotations

import io
import logging

from crossarc.server import log


def logged(monkeypatch, write):
    stream = io.StringIO()
    root, ours = logging.getLogger(), logging.getLogger("crossarc")
    monkeypatch.setattr("sys.stderr", stream)
    before = root.handlers[:], ours.handlers[:], ours.propagate, ours.level
    try:
        ours.addHandler(logging.StreamHandler(stream))  # as the command line has one
        log.set_up()
        write(logging.getLogger("crossarc.server"))
    finally:
        root.handlers[:], ours.handlers[:], ours.propagate, level = before
        ours.setLevel(level)
    return stream.getvalue()


def test_input_cannot_forge_lines(monkeypatch):
    text = logged(monkeypatch, lambda log: log.error("bad: %s", "x\ncrossarc: forged\r\x1b[2J\u2028y"))
    assert text == "crossarc: bad: x\\ncrossarc: forged\\r\\x1b[2J\\u2028y\n"


def test_tracebacks_cannot_forge_lines(monkeypatch):
    def write(log):
        try:
            raise ValueError("x\ncrossarc: forged\x1b[2J")
        except ValueError:
            log.exception("a request failed")

    first, *others = logged(monkeypatch, write).splitlines()
    assert first == "crossarc: a request failed"
    assert all(line.startswith("    ") for line in others)
    assert "\x1b" not in "".join(others)
