"""What a server refuses before anything else, and what it tells browsers to refuse.

A page of another site must not be able to use somebody's browser to talk to a server on their machine:
its requests name their origin, and a name that leads here by a trick of its owner (DNS rebinding)
stands in the header Host.
"""

from __future__ import annotations

import ipaddress
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from typing import Any
from urllib.parse import urlsplit

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "manifest-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)
HEADERS = {
    b"content-security-policy": POLICY.encode(),
    b"referrer-policy": b"no-referrer",
    b"x-content-type-options": b"nosniff",
    b"x-frame-options": b"DENY",
    b"cross-origin-opener-policy": b"same-origin",
    b"cross-origin-resource-policy": b"same-origin",
}
# Where an address names a seat, nobody but its owner may keep what is there.
SECRET = ("/table/", "/tables")
# Addresses whose rates are remembered.
MOST_KNOWN = 10_000


def host_name(netloc: str) -> str:
    """Return the host of a network location, without its port, in small letters; "" for rubbish.

    >>> host_name("LocalHost:8000"), host_name("[::1]:8000")
    ('localhost', '::1')
    """
    try:
        return (urlsplit(f"//{netloc}").hostname or "").lower()
    except ValueError:
        return ""


def is_address(host: str) -> bool:
    """Return whether a host is an address of the Internet protocol, which nobody can let lead elsewhere.

    >>> is_address("192.168.0.7"), is_address("example.org")
    (True, False)
    """
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


class Guard:
    """Refuse requests of other sites, and add headers for safety to every answer.

    Args:
        app: what answers.
        origins: origins besides the server's own that may use it, such as ``https://games.example``;
            their hosts may stand in the header Host.
        hosts: further names under which the server is reached.
    """

    def __init__(self, app: App, origins: Iterable[str] = (), hosts: Iterable[str] = ()) -> None:
        self.app = app
        self.origins = {origin.rstrip("/").lower() for origin in origins}
        self.hosts = {
            "localhost",
            *(host.lower() for host in hosts),
            *(host_name(urlsplit(o).netloc) for o in self.origins),
        }

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or let it through."""
        if scope["type"] not in ("http", "websocket"):
            await self.app(scope, receive, send)
            return
        why = self._why_refused(scope)
        if why and scope["type"] == "websocket":
            await receive()
            await send({"type": "websocket.close", "code": 1008, "reason": why})
        elif why:
            body = f"{why}\n".encode()
            headers = [(b"content-type", b"text/plain; charset=utf-8"), *HEADERS.items()]
            await send({"type": "http.response.start", "status": 403, "headers": headers})
            await send({"type": "http.response.body", "body": body})
        elif scope["type"] == "websocket":
            await self.app(scope, receive, send)
        else:
            await self.app(scope, receive, _with_headers(send, scope["path"]))

    def _why_refused(self, scope: Scope) -> str:
        """Return why a request is refused; "" if it is not."""
        hosts = [value.decode("latin-1") for name, value in scope["headers"] if name == b"host"]
        origins = [value.decode("latin-1") for name, value in scope["headers"] if name == b"origin"]
        if len(hosts) != 1 or len(origins) > 1:
            return "a request has one header Host, and at most one header Origin"
        host = host_name(hosts[0])
        if not is_address(host) and host not in self.hosts:
            return "this server does not go by that name; --allow-origin lets it"
        # Reading is the same for all, and only browsers say where a request comes from.
        if origins and (scope["type"] == "websocket" or scope["method"] not in ("GET", "HEAD")):
            origin = origins[0].lower()
            if origin not in self.origins and urlsplit(origin).netloc != hosts[0].lower():
                return "pages of another site may not use this server; --allow-origin lets one"
        return ""


def _with_headers(send: Send, path: str) -> Send:
    """Return a way to send an answer with the headers added that it has not got itself."""

    async def send_with_headers(message: Message) -> None:
        if message["type"] == "http.response.start":
            there = {name.lower() for name, _ in message["headers"]}
            added = {**HEADERS, b"cache-control": b"no-store" if path.startswith(SECRET) else b"no-cache"}
            headers = [pair for pair in added.items() if pair[0] not in there]
            message = {**message, "headers": [*message["headers"], *headers]}
        await send(message)

    return send_with_headers


class Rate:
    """How often something may happen: a number of times at once, and a number a second.

    Args:
        at_once: number.
        per_second: number.
    """

    def __init__(self, at_once: float, per_second: float) -> None:
        self.at_once = at_once
        self.per_second = per_second
        self._left = at_once
        self._at = time.monotonic()

    def allows(self) -> bool:
        """Return whether it may happen now, and count it if so."""
        now = time.monotonic()
        self._left = min(self.at_once, self._left + (now - self._at) * self.per_second)
        self._at = now
        if self._left < 1:
            return False
        self._left -= 1
        return True


class Rates:
    """The same for each of many addresses."""

    def __init__(self, at_once: float, per_second: float) -> None:
        self.at_once = at_once
        self.per_second = per_second
        self._rates: OrderedDict[str, Rate] = OrderedDict()

    def allows(self, address: str) -> bool:
        """Return whether an address may do it now, and count it if so."""
        if address not in self._rates and len(self._rates) >= MOST_KNOWN:
            self._rates.popitem(last=False)
        rate = self._rates.setdefault(address, Rate(self.at_once, self.per_second))
        self._rates.move_to_end(address)
        return rate.allows()
