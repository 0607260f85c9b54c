"""Connections that send the head of a request too slowly, or never: they are closed, and never in the way of others."""

from __future__ import annotations

import asyncio
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

__all__ = ["protocol"]


def protocol(seconds: float, most: int) -> type[H11Protocol]:
    """HTTP/1.1 with a time limit for the head of a request.

    When there are ``most`` connections, a new one closes the one that has been silent for longest.
    """
    waiting: dict[H11Protocol, asyncio.TimerHandle] = {}  # connections without a request, the oldest first

    class Timed(H11Protocol):
        def connection_made(self, transport: Any) -> None:
            super().connection_made(transport)
            if len(self.connections) > most and waiting:
                close(next(iter(waiting)))
            self.wait_for_head()

        def data_received(self, data: bytes) -> None:
            super().data_received(data)
            if self.conn.their_state is h11.IDLE:
                self.wait_for_head()
            else:
                self.stop_waiting()

        def connection_lost(self, error: Exception | None) -> None:
            self.stop_waiting()
            super().connection_lost(error)

        def wait_for_head(self) -> None:
            if self not in waiting:
                waiting[self] = self.loop.call_later(seconds, close, self)

        def stop_waiting(self) -> None:
            timer = waiting.pop(self, None)
            if timer is not None:
                timer.cancel()

    def close(connection: H11Protocol) -> None:
        waiting.pop(connection).cancel()
        connection.transport.abort()

    return Timed
