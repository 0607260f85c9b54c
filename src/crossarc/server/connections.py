"""Connections whose clients send the head of a request too slowly, or do not take the reply: they are closed, and never
in the way of others.
"""

from __future__ import annotations

import asyncio
from itertools import chain
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

__all__ = ["protocol"]


def protocol(head_seconds: float, reply_seconds: float, most: int) -> type[H11Protocol]:
    """HTTP/1.1 with a time limit for the head of a request, and for clients that take nothing of a reply.

    When there are ``most`` connections, a new one closes the one that has kept us waiting for longest; if none does,
    it is closed itself.
    """
    heads: dict[H11Protocol, asyncio.TimerHandle] = {}  # connections without a request, the oldest first
    replies: dict[H11Protocol, asyncio.TimerHandle] = {}  # connections with a reply that has not been taken

    class Timed(H11Protocol):
        unsent = 0  # bytes, when we began to wait for the client to take them

        def connection_made(self, transport: Any) -> None:
            super().connection_made(transport)
            if len(self.connections) > most:
                close(next(chain(heads, replies), self))
            self.wait_for_head()

        def data_received(self, data: bytes) -> None:
            super().data_received(data)
            self.wait_for_head()

        def on_response_complete(self) -> None:
            super().on_response_complete()
            self.wait_for_head()
            if self not in replies:
                self.wait_for_reader()

        def pause_writing(self) -> None:
            super().pause_writing()
            self.wait_for_reader()

        def resume_writing(self) -> None:
            super().resume_writing()
            self.wait_for_reader()

        def connection_lost(self, error: Exception | None) -> None:
            stop(heads, self)
            stop(replies, self)
            super().connection_lost(error)

        def wait_for_head(self) -> None:
            if self.conn.their_state is not h11.IDLE or self.transport.is_closing():
                stop(heads, self)
            elif self not in heads:
                heads[self] = self.loop.call_later(head_seconds, self.look_for_head)

        def look_for_head(self) -> None:
            stop(heads, self)
            if self not in replies:
                close(self)

        def wait_for_reader(self) -> None:
            stop(replies, self)
            self.unsent = self.transport.get_write_buffer_size()
            if self.unsent:
                replies[self] = self.loop.call_later(reply_seconds, self.look_at_reader)

        def look_at_reader(self) -> None:
            if self.transport.get_write_buffer_size() >= self.unsent:
                close(self)
            else:
                self.wait_for_reader()

    def stop(clocks: dict[H11Protocol, asyncio.TimerHandle], connection: H11Protocol) -> None:
        if connection in clocks:
            clocks.pop(connection).cancel()

    def close(connection: H11Protocol) -> None:
        stop(heads, connection)
        stop(replies, connection)
        connection.transport.abort()

    return Timed
