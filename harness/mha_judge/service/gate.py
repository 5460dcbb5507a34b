"""What comes before any route: hosts, origins, tokens, bodies too large or too slow."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from mha_judge.service.tokens import Asker

MAX_BODY_BYTES = 8 * 1024**2
_MOST_IGNORED_BYTES = 1024**2
"""What is read of a body that is refused anyway."""
_PORTS = {"http": 80, "https": 443}
BODY_S = 20.0
"""What a client may take to send a body."""


class Gate:
    """Lets through what has a token and names this server, with its whole body."""

    def __init__(
        self,
        app: ASGIApp,
        asker: Callable[[str, Headers], Asker | None],
        hosts: Collection[str] | None,
        free: Callable[[str], bool],
    ) -> None:
        """Take what lies behind.

        Args:
            app: The routes.
            asker: Returns who asks for a path, by the headers; None if it is nobody known.
            hosts: The names under which the server is reached, None for any: a page of another
                site that a browser shows could have its own name lead here.
            free: Returns whether anybody may ask for a path.
        """
        self._app = app
        self._asker = asker
        self._hosts = None if hosts is None else frozenset(host.lower() for host in hosts)
        self._free = free

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        refused = self._refused(headers)
        if refused is None:
            scope["asker"] = self._asker(scope["path"], headers)
            if scope["asker"] is None and not self._free(scope["path"]):
                refused = JSONResponse(
                    {"detail": "send a token: `Authorization: Bearer TOKEN`"},
                    401,
                    {"WWW-Authenticate": "Bearer"},
                )
        if scope["type"] == "websocket":
            # a browser lets any page open one, and says whose page it is
            if refused is not None or "origin" not in headers:
                await send({"type": "websocket.close", "code": 1008})
            else:
                await self._app(scope, receive, send)
            return
        most = MAX_BODY_BYTES if refused is None else _MOST_IGNORED_BYTES
        body = b""
        try:  # of what is refused too: a client that is still sending would not read why
            async with asyncio.timeout(BODY_S):
                body = await _body(receive, headers, most)
        except TimeoutError:
            refused = refused or _because(408, f"the body did not come within {BODY_S:g} s")
        except _TooLarge:
            refused = refused or _because(413, f"the body is larger than {most >> 20} MiB")
        except _Left:
            return
        if refused is not None:
            refused.headers["Connection"] = "close"  # what is left of the body is not read
            await refused(scope, receive, send)
        else:
            await self._app(scope, _given(body, receive), send)

    def _refused(self, headers: Headers) -> JSONResponse | None:
        host, origin = _name(f"//{headers.get('host', '')}"), headers.get("origin")
        if not host or (self._hosts is not None and host not in self._hosts):
            return _because(421, "this server is not reached under that name; see --allow-host")
        if origin is not None and (
            _name(origin) != host or _is_other_port(origin, headers["host"])
        ):
            return _because(403, "pages of other sites may not ask this server")
        return None


class _TooLarge(Exception):
    pass


class _Left(Exception):
    pass


async def _body(receive: Receive, headers: Headers, most: int) -> bytes:
    length = headers.get("content-length", "0")
    if length.isdecimal() and int(length[:20]) > most:
        raise _TooLarge
    parts, size, more = [], 0, True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise _Left
        parts.append(message.get("body", b""))
        size += len(parts[-1])
        if size > most:
            raise _TooLarge
        more = message.get("more_body", False)
    return b"".join(parts)


def _given(body: bytes, receive: Receive) -> Receive:
    """Return what gives a body that was read, and afterwards what else comes."""
    given = False

    async def give() -> Message:
        nonlocal given
        if given:
            return await receive()
        given = True
        return {"type": "http.request", "body": body, "more_body": False}

    return give


def _name(url: str) -> str:
    try:
        return (urlsplit(url).hostname or "").lower()
    except ValueError:
        return ""


def _is_other_port(origin: str, host: str) -> bool:
    """Return whether a page is of another server of the same machine, to which cookies go too."""
    try:
        asked, url = urlsplit(f"//{host}").port, urlsplit(origin)
        # some proxies leave the port out
        return asked is not None and asked != (url.port or _PORTS.get(url.scheme))
    except ValueError:
        return True


def _because(status: int, detail: str) -> JSONResponse:
    return JSONResponse({"detail": detail}, status)
