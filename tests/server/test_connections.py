"""When connections are closed, on a clock of our own."""

from __future__ import annotations

from uvicorn import Config
from uvicorn.server import ServerState

from crossarc.server.connections import protocol


class Clock:
    """In the place of a loop: its timers go off when it is told that so many seconds are over."""

    def __init__(self):
        self.now = 0.0
        self.timers = []

    def call_later(self, seconds, function):
        timer = Timer(self.now + seconds, function)
        self.timers.append(timer)
        return timer

    def pass_by(self, seconds):
        self.now += seconds
        over = [timer for timer in self.timers if timer.end <= self.now]
        self.timers = [timer for timer in self.timers if timer not in over]
        for timer in over:
            if not timer.cancelled:
                timer.function()


class Timer:
    def __init__(self, end, function):
        self.end, self.function = end, function
        self.cancelled = False

    def cancel(self):
        self.cancelled = True


class Transport:
    """A connection to a client, which takes what we say that it takes."""

    unsent = 0
    aborted = False

    def get_extra_info(self, name):
        return None

    def get_write_buffer_size(self):
        return self.unsent

    def is_closing(self):
        return self.aborted

    def abort(self):
        self.aborted = True


def connections(number, most=10):
    """A clock, and so many connections with their transports."""
    clock, state = Clock(), ServerState()
    kind = protocol(10.0, 30.0, most)
    made = []
    for _ in range(number):
        connection, transport = kind(Config(app=None), state, {}, clock), Transport()
        connection.connection_made(transport)
        made.append((connection, transport))
    return clock, made


def test_a_head_that_does_not_come():
    clock, [(connection, transport)] = connections(1)
    clock.pass_by(9)
    connection.data_received(b"GET / HTTP")
    assert not transport.aborted
    clock.pass_by(2)
    assert transport.aborted


def test_a_reply_that_is_taken_slowly():
    clock, [(connection, transport)] = connections(1)
    transport.unsent = 1_000_000
    connection.pause_writing()
    for _ in range(5):
        clock.pass_by(29)
        transport.unsent -= 50_000
        clock.pass_by(2)
        assert not transport.aborted
    clock.pass_by(60)
    assert transport.aborted


def test_a_reply_that_has_been_taken():
    clock, [(connection, transport)] = connections(1)
    connection.data_received(b"GET / HTTP")  # a head that is too slow does not cut the reply before it short
    transport.unsent = 1_000_000
    connection.pause_writing()
    clock.pass_by(11)
    assert not transport.aborted
    transport.unsent = 0
    connection.resume_writing()
    clock.pass_by(1000)
    assert not transport.aborted


def test_a_crowd_closes_whoever_has_kept_us_waiting_for_longest():
    _, made = connections(5, most=3)
    assert [transport.aborted for _, transport in made] == [True, True, False, False, False]


def test_where_nobody_keeps_us_waiting_a_new_one_is_closed(monkeypatch):
    monkeypatch.setattr("crossarc.server.connections.h11.IDLE", "no state: all have sent their heads")
    _, made = connections(5, most=3)
    assert [transport.aborted for _, transport in made] == [False, False, False, True, True]
