"""Who may ask: names that the service answers to, origins of pages, a token."""

from __future__ import annotations

import hmac
from dataclasses import dataclass
from http.cookies import CookieError, SimpleCookie
from urllib.parse import parse_qs, urlsplit

from starlette.datastructures import Headers
from starlette.types import Scope

from crossarc.server.jobs import RequestError

__all__ = ["COOKIE", "LOOPBACK", "Access", "is_loopback"]

LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
COOKIE = "crossarc-token"

_FREE = ("/", "/health", "/favicon.ico")  # what strangers may see: it says nothing and costs nothing
_FREE_FOLDERS = ("/page/",)
_FOR_PAGES_OF_OTHERS = ("/models", "/process")


@dataclass(frozen=True)
class Access:
    """Checks that come before anything else is done for a request."""

    hosts: frozenset[str] = LOOPBACK  # names in ``Host``, without ports; "*" is any
    origins: frozenset[str] = frozenset()  # of pages of others that may use UDPipe's interface (CORS); "*" is any
    token: str = ""  # needed for all but the page itself and ``/health``; none if it is empty

    def refusal(self, scope: Scope) -> RequestError | None:
        """Why a request is refused, if it is."""
        headers, path = Headers(scope=scope), scope["path"]
        if not self._knows(_name(headers.get("host", ""))):
            return RequestError(403, "this service does not answer to that name: see crossarc serve --allow-host")
        if not self._is_from_us(headers, path):
            return RequestError(403, "pages of other sites may not ask here: see crossarc serve --allow-origin")
        if self.token and not _is_free(path) and not self._has_token(scope, headers):
            return RequestError(401, "a token is needed: Authorization: Bearer TOKEN, or ?token=TOKEN in the address")
        return None

    def cors_headers(self, scope: Scope) -> dict[str, str]:
        """What allows a page of another site to read the reply, if it may."""
        origin = Headers(scope=scope).get("origin", "")
        if scope["path"] not in _FOR_PAGES_OF_OTHERS or not self._is_allowed(origin):
            return {}
        return {"Access-Control-Allow-Origin": "*" if "*" in self.origins else origin, "Vary": "Origin"}

    def cookie_headers(self, scope: Scope) -> dict[str, str]:
        """What lets the page remember the token with which it was opened."""
        if not self.token or scope["path"] != "/" or not self._is_token(_in_query(scope)):
            return {}
        return {"Set-Cookie": f"{COOKIE}={self.token}; HttpOnly; SameSite=Strict; Path=/"}

    def _knows(self, name: str) -> bool:
        return "*" in self.hosts or name.lower() in self.hosts

    def _is_from_us(self, headers: Headers, path: str) -> bool:
        """Whether it is no page of another site that asks. Browsers say so; other programs say nothing."""
        if path in _FOR_PAGES_OF_OTHERS and self._is_allowed(headers.get("origin", "")):
            return True
        if headers.get("sec-fetch-site") == "cross-site" and not _is_free(path):
            return False
        origin = headers.get("origin")
        return origin is None or _name(urlsplit(origin).netloc) == _name(headers.get("host", ""))

    def _is_allowed(self, origin: str) -> bool:
        return bool(origin) and ("*" in self.origins or origin in self.origins)

    def _has_token(self, scope: Scope, headers: Headers) -> bool:
        kind, _, given = headers.get("authorization", "").partition(" ")
        given_ways = (given if kind.lower() == "bearer" else "", _in_query(scope), _in_cookie(headers))
        return any(map(self._is_token, given_ways))

    def _is_token(self, given: str) -> bool:
        return hmac.compare_digest(given.encode(), self.token.encode())


def is_loopback(host: str) -> bool:
    """Whether only this machine reaches an address."""
    return host in LOOPBACK or host.startswith("127.")


def _is_free(path: str) -> bool:
    return path in _FREE or path.startswith(_FREE_FOLDERS)


def _name(host: str) -> str:
    """The name in ``Host``, without the port.

    >>> _name("localhost:8000"), _name("[::1]:8000")
    ('localhost', '::1')
    """
    if host.startswith("["):
        return host[1:].partition("]")[0]
    return host.partition(":")[0]


def _in_query(scope: Scope) -> str:
    found = parse_qs(scope["query_string"].decode("latin-1"), max_num_fields=1000).get("token", [""])
    return str(found[0])


def _in_cookie(headers: Headers) -> str:
    try:
        found = SimpleCookie(headers.get("cookie", "")).get(COOKIE)
    except CookieError:
        return ""
    return found.value if found is not None else ""
