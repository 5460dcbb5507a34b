"""The pages of rooms, and the sockets behind them."""

from __future__ import annotations

import asyncio
import json
import re
import secrets
import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from starlette.applications import Starlette
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.requests import Request, cookie_parser
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect

from mha_judge.browser.messages import reason
from mha_judge.browser.pages import COMMON, HEADERS, asker, refused, shown
from mha_judge.errors import UsageError
from mha_judge.room.hub import Hub, Member
from mha_judge.room.log import Log
from mha_judge.room.messages import Here, read
from mha_judge.room.room import Stale
from mha_judge.sanitising import clean
from mha_judge.service.queue import Closing, Queue
from mha_judge.service.tokens import Asker, Role

_COOKIE = "mha-judge-room"
_BROWSER = "mha-judge-browser"
"""Cookie that tells a browser from others with the same link, so that it keeps its number."""
_BROWSER_CHARACTERS = 40
_NO_ROOM = (
    "This link opens no room: it was cut short, or its room is not on this server any more. "
    "Ask the interviewer for a new link.\n"
    "这个链接打不开任何房间：链接不完整，或者房间已不在这台服务器上。请向面试官要一个新的链接。"
)
_OF_ROOM = re.compile(r"/rooms/([\w-]{1,40})(?:/|$)")
_REFUSED, _FAILED = 4000, 1011
"""Codes with which a socket is closed: what was sent is no message; the server failed."""
_FIRST_S = 10.0
"""What a browser may take to its first message."""
_CHARACTERS_PER_S = 1024**2
"""What is read from one browser, so that none with long messages holds up all rooms."""


def asker_of(log: Log, path: str, headers: Headers) -> Asker | None:
    """Return who asks for something of a room, by the cookie of its link."""
    found = _OF_ROOM.match(path)
    key = cookie_parser(headers.get("cookie", "")).get(_COOKIE)
    role = log.role(found[1], key) if found and key else None
    return Asker(role, found[1]) if found and role else None


def make_app(hub: Hub, log: Log, queue: Queue, *, secure: bool) -> Starlette:
    """Return the routes.

    Args:
        hub: The rooms.
        log: Their keys and records.
        queue: What grades; begun and ended with the server.
        secure: Whether the server is reached by TLS alone.
    """

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        queue.open()
        yield

    async def enter(request: Request) -> Response:
        """Let in who has a link: its key goes into a cookie of this room alone."""
        room, key = request.path_params["room"], request.path_params["key"]
        if log.role(room, key) is None:
            raise HTTPException(404, _NO_ROOM)
        entered = RedirectResponse(f"/rooms/{room}", 303, HEADERS)
        browser = request.cookies.get(_BROWSER) or secrets.token_urlsafe(12)
        for name, value in {_COOKIE: key, _BROWSER: browser}.items():
            entered.set_cookie(
                name, value, path=f"/rooms/{room}", secure=secure, httponly=True, samesite="lax"
            )
        return entered

    async def room(request: Request) -> Response:
        return shown("room", asker(request).name)

    async def record(request: Request) -> Response:
        return shown("record", _interviewer(request).name)

    async def events(request: Request) -> Response:
        """Return all that happened, for the playback."""
        told = await asyncio.to_thread(log.events, _interviewer(request).name)
        text = json.dumps([*told])  # in ASCII: half a character may have been typed
        return Response(text, media_type="application/json", headers=HEADERS)

    async def socket(websocket: WebSocket) -> None:
        who = websocket.scope["asker"]
        if who is None:
            await websocket.close(1008)
            return
        await websocket.accept()
        browser = websocket.cookies.get(_BROWSER, "")
        await _Connected(hub, websocket, who, browser[:_BROWSER_CHARACTERS]).run()

    return Starlette(
        routes=[
            Route("/rooms/{room}/enter/{key}", enter),
            Route("/rooms/{room}", room),
            Route("/rooms/{room}/record", record),
            Route("/rooms/{room}/record.json", events),
            *COMMON,
            WebSocketRoute("/rooms/{room}/socket", socket),
        ],
        lifespan=lifespan,
        exception_handlers={HTTPException: refused},
    )


class _Connected:
    """One browser's socket, from its first message to its last."""

    def __init__(self, hub: Hub, websocket: WebSocket, asker: Asker, browser: str) -> None:
        self._hub = hub
        self._socket = websocket
        self._asker = asker
        self._browser = browser

    async def run(self) -> None:
        member: Member | None = None
        sending: asyncio.Task[None] | None = None
        room = self._asker.name
        try:
            async with asyncio.timeout(_FIRST_S):
                first = read(await self._socket.receive_text())
            if not isinstance(first, Here):
                raise UsageError("the first message says what the browser has")
            member = await self._hub.enter(room, self._asker.role, self._browser, first.versions)
            sending = asyncio.create_task(self._send(member))
            while True:
                text = await self._socket.receive_text()
                await self._take(member, text)
                await asyncio.sleep(len(text) / _CHARACTERS_PER_S)  # others have their turn
        except WebSocketDisconnect:
            pass
        except TimeoutError:
            await self._close(_REFUSED, "the first message did not come")
        except (UsageError, KeyError) as error:  # starlette raises KeyError for bytes
            await self._close(_REFUSED, error)
        except sqlite3.Error:
            await self._close(_FAILED, "the room cannot be kept on this disk now")
        finally:
            if sending is not None:
                sending.cancel()
            if member is not None:
                await asyncio.shield(self._hub.leave(room, member))

    async def _take(self, member: Member, text: str) -> None:
        message = read(text)
        if isinstance(message, Here):
            raise UsageError("a browser says once what it has")
        try:
            await self._hub.take(self._asker.name, member, message)
        except Stale:
            member.tell("refused", what=message.kind, why="")
        except (UsageError, Closing) as error:
            member.tell("refused", what=message.kind, why=clean(str(error)))
        except sqlite3.Error:
            why = "this cannot be kept on the server's disk now; try again"
            member.tell("refused", what=message.kind, why=why)

    async def _send(self, member: Member) -> None:
        while (text := await member.next()) is not None:
            await self._socket.send_text(text)
        await self._close(_REFUSED, "the connection is too slow")

    async def _close(self, code: int, why: str | Exception) -> None:
        with suppress(RuntimeError):  # it is closed
            await self._socket.close(code, reason(why))


def _interviewer(request: Request) -> Asker:
    found = asker(request)
    if found.role is not Role.INTERVIEWER:
        raise HTTPException(403, "This is for interviewers.")
    return found
