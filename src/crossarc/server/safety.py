"""What every request and every reply goes through, whatever it is about."""

from __future__ import annotations

import asyncio
import time
from contextlib import suppress

from starlette.datastructures import MutableHeaders
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from crossarc.server.access import Access
from crossarc.server.errors import reply_to
from crossarc.server.jobs import Limits, RequestError
from crossarc.server.metrics import Metrics

__all__ = ["Guarded"]

_HEADERS = {
    "Content-Security-Policy": "default-src 'self'; img-src 'self' data:; object-src 'none'; base-uri 'none'; "
    "form-action 'self'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cache-Control": "no-cache",
}


class Guarded:
    """An application whose requests are limited in number, size and time, and end when their clients leave.

    Replies tell browsers to be strict.
    """

    def __init__(self, app: ASGIApp, limits: Limits, access: Access, metrics: Metrics) -> None:
        self.app = app
        self.limits = limits
        self.access = access
        self.metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        reply = _Reply(send, {**_HEADERS, **self.access.cors_headers(scope), **self.access.cookie_headers(scope)})
        start = time.monotonic()
        self.metrics.running += 1
        try:
            if (refused := self._refusal(scope)) is not None:
                await reply_to(scope["path"], refused)(scope, receive, reply.send)
            else:
                await self._answer(scope, _Body(receive, self.limits), reply)
        except HTTPException as error:  # of a body that nobody reads
            refused = RequestError(error.status_code, error.detail)
            await reply_to(scope["path"], refused)(scope, receive, reply.send)
        finally:
            self.metrics.running -= 1
            self.metrics.seconds += time.monotonic() - start
            self.metrics.replies[reply.status] += bool(reply.status)
            self.metrics.left += not reply.complete

    def _refusal(self, scope: Scope) -> RequestError | None:
        if self.metrics.running > self.limits.requests:
            return RequestError(503, "too many requests at once; try again later")
        if _size_of_head(scope) > self.limits.head:
            return RequestError(431, f"address and header lines may have at most {self.limits.head:,} bytes")
        return self.access.refusal(scope)

    async def _answer(self, scope: Scope, body: _Body, reply: _Reply) -> None:
        """Run the application, but no longer than the client waits for it."""
        if scope["method"] in ("GET", "HEAD"):
            await body.fetch()
        answering = asyncio.ensure_future(self.app(scope, body.receive, reply.send))
        leaving = asyncio.ensure_future(body.client_left())
        try:
            await asyncio.wait({answering, leaving}, return_when=asyncio.FIRST_COMPLETED)
            if not answering.done() and not reply.complete:
                answering.cancel()
            with suppress(asyncio.CancelledError):
                await answering
        finally:
            answering.cancel()
            leaving.cancel()


def _size_of_head(scope: Scope) -> int:
    lines = sum(len(name) + len(value) for name, value in scope["headers"])
    return len(scope["raw_path"] or b"") + len(scope["query_string"]) + lines


class _Reply:
    """What is sent to the client."""

    def __init__(self, send: Send, headers: dict[str, str]) -> None:
        self._send = send
        self._headers = headers
        self.status = 0
        self.complete = False

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            MutableHeaders(scope=message).update(self._headers)
        await self._send(message)
        self.complete = message["type"] == "http.response.body" and not message.get("more_body", False)


class _Body:
    """The body of a request, as long as it is not too long and does not take too long."""

    def __init__(self, receive: Receive, limits: Limits) -> None:
        self._receive = receive
        self._limits = limits
        self._deadline = asyncio.get_running_loop().time() + limits.seconds
        self._size = 0
        self._fetched: list[Message] = []
        self._complete, self._left = asyncio.Event(), asyncio.Event()

    async def fetch(self) -> None:
        """Read a part before anybody asks for it: nobody does if a request has no body."""
        self._fetched.append(await self.receive())

    async def receive(self) -> Message:
        """The next part; when all parts are there, that the client has left, as soon as it has."""
        if self._fetched:
            return self._fetched.pop()
        if self._complete.is_set():
            await self._left.wait()
            return {"type": "http.disconnect"}
        try:
            async with asyncio.timeout_at(self._deadline):
                message = await self._receive()
        except TimeoutError:
            raise HTTPException(408, f"the request did not arrive within {self._limits.seconds:g} seconds") from None
        self._size += len(message.get("body", b""))
        if message["type"] == "http.disconnect":
            self._left.set()
        if not message.get("more_body", False):
            self._complete.set()
        if self._size > self._limits.size:
            raise HTTPException(413, f"a request may have at most {self._limits.size:,} bytes")
        return message

    async def client_left(self) -> None:
        """Wait until the client has left."""
        await self._complete.wait()
        while not self._left.is_set():
            if (await self._receive())["type"] == "http.disconnect":
                self._left.set()
