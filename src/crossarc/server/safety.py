"""What every request and every reply goes through, whatever it is about."""

from __future__ import annotations

import asyncio

from starlette.datastructures import MutableHeaders
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from crossarc.server.jobs import Limits

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
    """An application whose requests are limited in size and time, and whose replies tell browsers to be strict."""

    def __init__(self, app: ASGIApp, limits: Limits) -> None:
        self.app = app
        self.limits = limits

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        async def send_strictly(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(_HEADERS)
            await send(message)

        await self.app(scope, _limited(receive, self.limits), send_strictly)


def _limited(receive: Receive, limits: Limits) -> Receive:
    """The body of a request, as long as it is not too long and does not take too long."""
    size = 0
    complete = False
    deadline = asyncio.get_running_loop().time() + limits.seconds

    async def receive_some() -> Message:
        nonlocal size, complete
        if complete:  # what comes now is that the client has left, and may take any time
            return await receive()
        try:
            async with asyncio.timeout_at(deadline):
                message = await receive()
        except TimeoutError:
            raise HTTPException(408, f"the request did not arrive within {limits.seconds:g} seconds") from None
        size += len(message.get("body", b""))
        complete = not message.get("more_body", False)
        if size > limits.size:
            raise HTTPException(413, f"a request may have at most {limits.size:,} bytes")
        return message

    return receive_some
