"""The page of practice, and the socket behind it; for one person on this machine."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from starlette.applications import Starlette
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.requests import Request, cookie_parser
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect

from mha_judge.browser.messages import reason
from mha_judge.browser.pages import COMMON, HEADERS, asker, refused, shown
from mha_judge.errors import UsageError
from mha_judge.service.tokens import Asker, Role
from mha_judge.web_practice.desk import Desk, Page
from mha_judge.web_practice.messages import read

_COOKIE = "mha-judge-practice"
_NO_MESSAGE = 4000
"""Code with which a socket is closed that sends no message."""


def asker_of(key: str, _: str, headers: Headers) -> Asker | None:
    """Return who asks, by the cookie of the link."""
    given = cookie_parser(headers.get("cookie", "")).get(_COOKIE, "")
    is_ours = secrets.compare_digest(given.encode(), key.encode())
    return Asker(Role.CANDIDATE, "") if is_ours else None


def make_app(desk: Desk, key: str) -> Starlette:
    """Return the routes.

    Args:
        desk: What the page shows.
        key: What the link lets in with.
    """

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        running = asyncio.create_task(desk.run())
        yield
        running.cancel()
        with suppress(asyncio.CancelledError):
            await running

    async def enter(request: Request) -> Response:
        if not secrets.compare_digest(request.path_params["key"].encode(), key.encode()):
            raise HTTPException(404, "The link was another: `mha-judge practice` prints it.")
        entered = RedirectResponse("/", 303, HEADERS)
        entered.set_cookie(_COOKIE, key, httponly=True, samesite="lax")
        return entered

    async def page(request: Request) -> Response:
        asker(request)
        return shown("practice")

    async def progress(request: Request) -> Response:
        asker(request)
        policy = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'"
        headers = {**HEADERS, "Content-Security-Policy": policy}
        return HTMLResponse(await asyncio.to_thread(desk.progress), headers=headers)

    async def socket(websocket: WebSocket) -> None:
        if websocket.scope["asker"] is None:
            await websocket.close(1008)
            return
        await websocket.accept()
        await _talk(desk, websocket)

    return Starlette(
        routes=[
            Route("/enter/{key}", enter),
            Route("/", page),
            Route("/progress", progress),
            WebSocketRoute("/socket", socket),
            *COMMON,
        ],
        lifespan=lifespan,
        exception_handlers={HTTPException: refused},
    )


async def _talk(desk: Desk, websocket: WebSocket) -> None:
    """Serve one page from its first message to its last."""
    page = desk.enter()
    sending = asyncio.create_task(_send(page, websocket))
    try:
        while True:
            desk.take(page, read(await websocket.receive_text()))
    except WebSocketDisconnect:
        pass
    except (UsageError, KeyError) as error:  # starlette raises KeyError for bytes
        with suppress(RuntimeError):
            await websocket.close(_NO_MESSAGE, reason(error))
    finally:
        sending.cancel()
        desk.leave(page)


async def _send(page: Page, websocket: WebSocket) -> None:
    while True:
        await websocket.send_text(await page.next())
