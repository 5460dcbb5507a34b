"""The routes: what is asked over HTTP, and what is told."""

from __future__ import annotations

import hashlib
import json
import sqlite3
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Annotated, Any, Literal

from fastapi import FastAPI, Header, HTTPException, Query, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse, JSONResponse, RedirectResponse, StreamingResponse

from mha_judge.bank.listing import ProblemSummary
from mha_judge.errors import JudgeError, UsageError
from mha_judge.library import Judge
from mha_judge.render.page import page
from mha_judge.report.models import Report, Reveal
from mha_judge.report.reveal import revealed, revealed_check
from mha_judge.sanitising import clean
from mha_judge.service.metrics import Metrics
from mha_judge.service.models import (
    MAX_ANSWERS,
    Ask,
    AskOrBatch,
    Batch,
    Grade,
    Grades,
    Reason,
    State,
    Statement,
)
from mha_judge.service.queue import Closing, Queue, QueueFull, Ticket
from mha_judge.service.store import KeyTaken, Store, Stored
from mha_judge.service.tokens import Asker, Role
from mha_judge.version import __version__

LONGEST_WAIT_S = 120.0
_PING_S = 15.0
_MODELS = ("Ask", "Batch")
_MOST_TOLD = 6
_FAILED = "the judge failed; ask again, or tell whoever runs it"
_Key = Annotated[
    str | None,
    Header(alias="Idempotency-Key", max_length=200, description="Any text, new for each request."),
]
_Wait = Annotated[float, Query(ge=0, le=LONGEST_WAIT_S, description="Seconds to wait for it.")]


def make_app(
    judge: Judge,
    queue: Queue,
    store: Store,
    metrics: Metrics,
    *,
    candidates_see: Reveal,
    tokens: bool,
) -> FastAPI:
    """Return the routes.

    Args:
        judge: Knows the problems.
        queue: Takes answers.
        store: Knows the grades that are done.
        metrics: What `/metrics` tells.
        candidates_see: How much of a report a candidate's token shows.
        tokens: Whether requests must have one.
    """

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        queue.open()
        yield

    app = FastAPI(
        title="mha-judge", version=__version__, lifespan=lifespan,
        docs_url=None, redoc_url=None,  # those load programs from other sites
        description="Grades answers to exercises on Transformer attention.",
    )  # fmt: skip
    _add_errors(app)
    told = _Telling(queue, store, candidates_see)

    @app.post("/v1/grades", status_code=202, responses={200: {"description": "All are done."}})
    async def ask(
        request: Request, response: Response, body: AskOrBatch, key: _Key = None, wait: _Wait = 0
    ) -> Grade | Grades:
        """Have one answer graded, or several.

        The reply comes at once, with ids to ask for; with a time to wait, when all are done or that
        time is over. The same idempotency key and body give the same grades again.
        """
        asker = _asker(request)
        asks = body.answers if isinstance(body, Batch) else [body]
        refused = {n: message for n, one in enumerate(asks) if (message := _why_not(queue, one))}
        if refused and isinstance(body, Ask):
            raise UsageError(refused[0])
        good = [one for n, one in enumerate(asks) if n not in refused]
        text = json.dumps(body.model_dump())  # ASCII: of what is no Unicode as well
        digest = hashlib.sha256(text.encode()).hexdigest()
        ids = await queue.accept(good, asker.name, key, digest) if good else []
        if len(ids) != len(good):
            raise KeyTaken("the problems have changed since this idempotency key came first")
        deadline = time.monotonic() + wait
        left = iter(ids)
        grades = [
            Grade(id="", state=State.REFUSED, message=refused[n])
            if n in refused
            else await told.grade(next(left), asker.role, deadline - time.monotonic())
            for n in range(len(asks))
        ]
        if all(one.state in (State.DONE, State.REFUSED) for one in grades):
            response.status_code = 200
        return Grades(grades=grades) if isinstance(body, Batch) else grades[0]

    @app.get("/v1/grades/{grade_id}")
    async def state(request: Request, grade_id: str, wait: _Wait = 0) -> Grade:
        """Return how far a grade is, with its report once there is one."""
        return await told.grade(grade_id, _asker(request).role, wait)

    @app.delete("/v1/grades/{grade_id}")
    async def cancel(request: Request, grade_id: str) -> Grade:
        """Take a grade back; one that is done stays."""
        ticket = queue.ticket(grade_id)
        if ticket is not None:
            queue.cancel(ticket)
            await queue.finished(ticket, _PING_S)
        return await told.grade(grade_id, _asker(request).role, 0)

    @app.get("/v1/grades/{grade_id}/events", response_class=StreamingResponse)
    async def events(request: Request, grade_id: str) -> StreamingResponse:
        """Stream the checks of a grade as they are done, as server-sent events, then the grade."""
        role = _asker(request).role
        told.known(grade_id)
        return StreamingResponse(
            told.events(grade_id, role),
            media_type="text/event-stream",
            headers={"Cache-Control": "no-store", "X-Accel-Buffering": "no"},
        )

    @app.get("/v1/problems")
    async def problems() -> list[ProblemSummary]:
        """Return the problems, easiest first."""
        return judge.problems()

    @app.get("/v1/problems/{problem_id}")
    async def statement(problem_id: str, lang: Literal["en", "zh"] = "en") -> Statement:
        """Return what a problem asks."""
        try:
            markdown = judge.statement(problem_id, lang)
        except UsageError as error:
            raise HTTPException(404, clean(str(error))) from error
        return Statement(id=problem_id, lang=lang, markdown=markdown)

    @app.get("/healthz")
    async def healthz() -> dict[str, str]:
        """Say that the server answers."""
        return {"status": "ok"}

    @app.get("/readyz")
    async def readyz() -> dict[str, str]:
        """Say whether answers are accepted."""
        if not queue.is_open:
            raise HTTPException(503, "the server is stopping")
        return {"status": "ready"}

    @app.get("/", include_in_schema=False)
    async def front() -> RedirectResponse:
        """Lead who opens the address in a browser to what can be asked."""
        return RedirectResponse("/docs")

    @app.get("/docs", include_in_schema=False)
    async def docs(request: Request) -> HTMLResponse:
        """Show what this server answers, without a program from elsewhere."""
        told = page(
            "mha_judge.service", "docs.html",
            api=app.openapi(), base=str(request.base_url), tokens=tokens, most=MAX_ANSWERS,
        )  # fmt: skip
        return HTMLResponse(told)

    @app.get("/metrics")
    async def figures(request: Request) -> Response:
        """Return the server's figures in Prometheus' format; for interviewers."""
        if _asker(request).role is not Role.INTERVIEWER:
            raise HTTPException(403, "this needs an interviewer's token")
        return Response(metrics.text(), media_type="text/plain; version=0.0.4; charset=utf-8")

    return app


class _Telling:
    """What a role is told of a grade."""

    def __init__(self, queue: Queue, store: Store, candidates_see: Reveal) -> None:
        self._queue = queue
        self._store = store
        self._levels = {Role.CANDIDATE: candidates_see, Role.INTERVIEWER: Reveal.FULL}

    def known(self, grade_id: str) -> Ticket | Stored:
        """Return a grade.

        Raises:
            HTTPException: There is none of this id.
        """
        found = self._queue.ticket(grade_id) or self._store.get(grade_id)
        if found is None:
            raise HTTPException(404, "there is no such grade")
        return found

    async def grade(self, grade_id: str, role: Role, wait_s: float) -> Grade:
        """Return a grade when it is done, or as it is when the time is over."""
        found = self.known(grade_id)
        if isinstance(found, Ticket):
            if not await self._queue.finished(found, wait_s):
                state, position = self._queue.state(found)
                return Grade(id=grade_id, state=state, position=position)
            found = self.known(grade_id)
        if isinstance(found, Ticket) or found.reason is None:
            message = "the server is stopping; it goes on with this one when it is back"
            return Grade(id=grade_id, state=State.WAITING, message=message)
        return Grade(
            id=grade_id,
            state=State.DONE,
            reason=found.reason,
            message=self._message(found, role),
            report=self._report(found, role),
        )

    def _message(self, stored: Stored, role: Role) -> str:
        """Return why there is no verdict; of the judge's inside only to who may see all."""
        if stored.reason is Reason.JUDGE_FAILED and role is not Role.INTERVIEWER:
            return _FAILED
        return stored.message

    def _report(self, stored: Stored, role: Role) -> dict[str, Any] | None:
        if stored.report is None or stored.reason is not Reason.VERDICT:
            return None
        return revealed(Report.model_validate_json(stored.report), self._levels[role])

    async def events(self, grade_id: str, role: Role) -> AsyncIterator[str]:
        """Yield server-sent events: `check` for each, and `grade` at the end."""
        ticket = self._queue.ticket(grade_id)
        if ticket is not None:
            async for check in self._queue.checks(ticket, _PING_S):
                shown = None if check is None else revealed_check(check, self._levels[role])
                yield ": still at it\n\n" if shown is None else _event("check", json.dumps(shown))
        grade = await self.grade(grade_id, role, 0)
        yield _event("grade", grade.model_dump_json())


def _event(kind: str, data: str) -> str:
    return f"event: {kind}\ndata: {data}\n\n"


def _asker(request: Request) -> Asker:
    asker: Asker = request.scope["asker"]
    return asker


def _why_not(queue: Queue, ask: Ask) -> str:
    try:
        queue.check(ask)
    except UsageError as error:
        return clean(str(error))
    return ""


def _add_errors(app: FastAPI) -> None:
    """Answer each kind of error with a sentence, and never with what is inside."""

    def answered(status: int) -> Callable[[Request, Exception], JSONResponse]:
        return lambda _, error: JSONResponse({"detail": clean(str(error))}, status)

    def full(_: Request, error: Exception) -> JSONResponse:
        assert isinstance(error, QueueFull)
        return JSONResponse(
            {"detail": str(error)}, 429, headers={"Retry-After": str(error.retry_after_s)}
        )

    def malformed(request: Request, error: Exception) -> JSONResponse:
        assert isinstance(error, RequestValidationError)
        sent = request.headers.get("content-type")
        if request.method == "POST" and "json" not in (sent or ""):
            is_now = "has no type" if sent is None else f"is of type {clean(sent, 80)}"
            told = f"the body {is_now}; send JSON, with the header Content-Type: application/json"
            return JSONResponse({"detail": told}, 415)
        # the loc of a union names its members; what was sent is not sent back
        said = {
            f"{'.'.join(str(part) for part in one['loc'] if part not in _MODELS)}: {one['msg']}"
            for one in error.errors()
        }
        return JSONResponse({"detail": clean("; ".join(sorted(said)[:_MOST_TOLD]))}, 422)

    app.add_exception_handler(RequestValidationError, malformed)
    app.add_exception_handler(QueueFull, full)
    app.add_exception_handler(Closing, answered(503))
    app.add_exception_handler(KeyTaken, answered(409))
    app.add_exception_handler(UsageError, answered(422))
    app.add_exception_handler(JudgeError, lambda *_: JSONResponse({"detail": _FAILED}, 500))
    app.add_exception_handler(
        sqlite3.Error,
        lambda *_: JSONResponse({"detail": "grades cannot be kept now; try again later"}, 503),
    )
