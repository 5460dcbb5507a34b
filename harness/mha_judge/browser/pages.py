"""A page, what belongs to it, and what it may load."""

from __future__ import annotations

import secrets
from importlib.resources import files

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, Response
from starlette.routing import BaseRoute, Route

from mha_judge.render.page import page
from mha_judge.service.tokens import Asker

HEADERS = {
    "Cache-Control": "no-store",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}
_NO_LINK = (
    "This needs the link that you were given: open it once more. If that does not help, ask "
    "whoever gave it to you for a new one.\n"
    "请重新打开您收到的链接。如果仍然不行，请向给您链接的人要一个新的。"
)
PROGRAM, STYLE = "page.js", "page.css"
_STATIC = {PROGRAM: "text/javascript", STYLE: "text/css"}


def static_text(name: str) -> str:
    """Return what is in the package: the program, or the style of all pages."""
    return files("mha_judge.browser").joinpath("static", name).read_text(encoding="utf-8")


def asker(request: Request) -> Asker:
    """Return who asks for a page.

    Raises:
        HTTPException: Somebody without a link.
    """
    found: Asker | None = request.scope["asker"]
    if found is None:
        raise HTTPException(403, _NO_LINK)
    return found


def shown(what: str, room: str = "") -> Response:
    """Return a page.

    Args:
        what: `room`, `record` or `practice`.
        room: Whose it is, if it is a room's.
    """
    nonce = secrets.token_urlsafe(12)
    rules = {
        "default-src": "'none'", "script-src": "'self'", "connect-src": "'self'",
        "style-src": f"'self' 'nonce-{nonce}'", "img-src": "data:", "base-uri": "'none'",
        "form-action": "'none'", "frame-ancestors": "'none'",
    }  # fmt: skip
    policy = "; ".join(f"{name} {value}" for name, value in rules.items())
    body = page("mha_judge.browser", "page.html", shows=what, room=room, nonce=nonce)
    return HTMLResponse(body, headers={**HEADERS, "Content-Security-Policy": policy})


async def _static(request: Request) -> Response:
    name = request.path_params["name"]
    if name not in _STATIC:
        raise HTTPException(404)
    headers = {**HEADERS, "Cache-Control": "no-cache"}
    return Response(static_text(name), media_type=_STATIC[name], headers=headers)


async def _healthz(_: Request) -> Response:
    return JSONResponse({"status": "ok"})


async def refused(_: Request, error: Exception) -> Response:
    """Tell a person why a page is not shown."""
    assert isinstance(error, HTTPException)
    return PlainTextResponse(error.detail, error.status_code, HEADERS)


COMMON: list[BaseRoute] = [Route("/static/{name}", _static), Route("/healthz", _healthz)]
"""Routes that every server of pages has; nothing of a person is in them."""
