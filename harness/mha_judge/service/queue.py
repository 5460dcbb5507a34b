"""The queue: what is accepted is on disk first, graded in its turn, and told as it goes on."""

from __future__ import annotations

import asyncio
import math
import secrets
import sqlite3
import time
from collections.abc import AsyncIterator, Callable, Sequence
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, field

from mha_judge.errors import JudgeError, UsageError
from mha_judge.judge import fresh_seed
from mha_judge.library import Judge
from mha_judge.pool import Grading
from mha_judge.report.models import CheckResult, Report
from mha_judge.sanitising import clean
from mha_judge.service.metrics import Metrics
from mha_judge.service.models import Ask, Reason, State
from mha_judge.service.store import Store, Stored
from mha_judge.submission import Submission

_TRIES = 3
"""How often the judge may fail on an answer before that is told."""
_LOOK_EVERY_S = 0.5
_FORGET_EVERY_S = 3_600.0
_USUAL_S = 1.0
"""What a grade takes, as long as none has been seen."""
_RECENT = 0.1
"""How much the last grade counts in the mean of what grades take."""


class QueueFull(Exception):
    """Nothing more is accepted now."""

    def __init__(self, retry_after_s: int) -> None:
        super().__init__(f"the queue is full; try again in {retry_after_s} s")
        self.retry_after_s = retry_after_s


class Closing(Exception):
    """Nothing more is accepted: the server is about to end."""


@dataclass(eq=False)
class Ticket:
    """A grade that was accepted and is not done."""

    id: str
    ask: Ask
    asked_at: float = field(default_factory=time.monotonic)
    grading: Grading | None = None
    tries: int = 0
    checks: list[CheckResult] = field(default_factory=list)
    """Those that are done."""
    done: bool = False
    because: Reason | None = None
    """Why it was cancelled, if it was."""
    _changed: set[asyncio.Event] = field(default_factory=set)

    @property
    def is_running(self) -> bool:
        return self.grading is not None and self.grading.started_at is not None

    def tell(self) -> None:
        """Wake those who wait for what is new; in the loop's thread."""
        for event in self._changed:
            event.set()

    async def news(self, within_s: float) -> bool:
        """Wait until there is something new; return False if there is nothing in time."""
        event = asyncio.Event()
        self._changed.add(event)
        try:
            async with asyncio.timeout(within_s):
                await event.wait()
        except TimeoutError:
            return False
        finally:
            self._changed.discard(event)
        return True


class Queue:
    """Accepts answers, and has them graded in the order in which they came."""

    def __init__(
        self,
        judge: Judge,
        store: Store,
        metrics: Metrics,
        *,
        workers: int,
        most: int,
        queue_timeout_s: float,
        keep_s: float,
    ) -> None:
        """Take what grades and what keeps.

        Args:
            judge: Grades.
            store: Keeps what was asked and what came of it.
            metrics: Is told of both.
            workers: How many the judge grades at once.
            most: How many may be unfinished before no more are accepted.
            queue_timeout_s: How long one may wait for its turn.
            keep_s: How long what is done is kept.
        """
        self._judge = judge
        self._store = store
        self._metrics = metrics
        self._workers = workers
        self._most = most
        self._queue_timeout_s = queue_timeout_s
        self._keep_s = keep_s
        self._tickets: dict[str, Ticket] = {}
        self._mean_s = _USUAL_S
        self._is_closing = False
        self._loop: asyncio.AbstractEventLoop | None = None
        self._sweeper: asyncio.Task[None] | None = None
        metrics.watch(lambda: self._counted(running=False), lambda: self._counted(running=True))

    def open(self) -> None:
        """Begin, with what an earlier server left unfinished; in the loop that serves."""
        self._loop = asyncio.get_running_loop()
        for stored in self._store.unfinished():
            self._enter(Ticket(stored.id, stored.ask))
        self._sweeper = self._loop.create_task(self._sweep())

    @property
    def is_open(self) -> bool:
        return self._sweeper is not None and not self._is_closing

    async def accept(
        self, asks: Sequence[Ask], owner: str, key: str | None, digest: str
    ) -> list[str]:
        """Take answers, all or none, and return the ids of their grades.

        Args:
            asks: The answers; they can be graded (`check` says so).
            owner: Who asks.
            key: An idempotency key, if there is one.
            digest: Of the request.

        Raises:
            QueueFull: There is no room for them.
            Closing: The server is about to end.
            KeyTaken: The key came with another request before.
            UsageError: There would never be room for so many.
        """
        if len(asks) > self._most:
            raise UsageError(f"the queue has room for {self._most} answers; send fewer at once")
        if key is not None:
            known = await asyncio.to_thread(self._store.known, owner, key, digest)
            if known is not None:
                return known
        if self._is_closing:
            raise Closing("the server is stopping; ask again when it is back")
        if len(self._tickets) + len(asks) > self._most:
            raise QueueFull(self._room_in_s(len(asks)))
        tickets = [Ticket(secrets.token_urlsafe(16), _seeded(ask)) for ask in asks]
        self._tickets |= {ticket.id: ticket for ticket in tickets}  # their room is taken
        try:
            stored = [Stored(ticket.id, ticket.ask) for ticket in tickets]
            ids = await asyncio.to_thread(self._store.add, stored, owner, key, digest)
        except BaseException:
            self._leave(tickets)
            raise
        if ids != [ticket.id for ticket in tickets]:  # the same request came twice at once
            self._leave(tickets)
            return ids
        for ticket in tickets:
            self._enter(ticket)
        return ids

    def check(self, ask: Ask) -> None:
        """Check that an answer can be graded.

        Raises:
            UsageError: It cannot be read, or there is no such problem.
        """
        self._judge.problem_of(Submission.of_text(ask.source), ask.problem)

    def ticket(self, grade_id: str) -> Ticket | None:
        """Return a grade that is not done."""
        return self._tickets.get(grade_id)

    def state(self, ticket: Ticket) -> tuple[State, int | None]:
        """Return how far a grade is, and its place among those that wait."""
        if ticket.is_running:
            return State.RUNNING, None
        before = 0
        for other in self._tickets.values():
            if other is ticket:
                break
            before += not other.is_running
        return State.WAITING, before + 1

    def cancel(self, ticket: Ticket, because: Reason = Reason.CANCELLED) -> None:
        """Take a grade back; it is done when its process has ended."""
        if ticket.because is None:
            ticket.because = because
        if ticket.grading is not None:
            ticket.grading.cancel()

    async def finished(self, ticket: Ticket, within_s: float) -> bool:
        """Wait until a grade is done; return False if it is not in time."""
        deadline = time.monotonic() + within_s
        while not ticket.done and (left := deadline - time.monotonic()) > 0:
            await ticket.news(left)
        return ticket.done

    async def checks(self, ticket: Ticket, ping_s: float) -> AsyncIterator[CheckResult | None]:
        """Yield the checks of a grade as they are done, and None where there was none for long."""
        told = 0
        while True:
            while told < len(ticket.checks):
                yield ticket.checks[told]
                told += 1
            if ticket.done:
                return
            if not await ticket.news(ping_s):
                yield None

    async def close(self, within_s: float) -> None:
        """Accept nothing more, let what is accepted come to its end, and leave the rest on disk."""
        self._is_closing = True
        deadline = time.monotonic() + within_s
        while self._tickets and time.monotonic() < deadline:
            await asyncio.sleep(_LOOK_EVERY_S / 5)
        if self._sweeper is not None:
            self._sweeper.cancel()
        left, self._tickets = [*self._tickets.values()], {}
        for ticket in left:
            if ticket.grading is not None:
                ticket.grading.cancel()
            ticket.done = True
            ticket.tell()

    def _enter(self, ticket: Ticket) -> None:
        """Hand an accepted answer to the judge."""
        assert self._loop is not None
        loop = self._loop
        self._tickets.pop(ticket.id, None)
        self._tickets[ticket.id] = ticket  # tried again it is the last, and waits anew
        ticket.asked_at = time.monotonic()
        ticket.tries += 1

        def on_check(check: CheckResult) -> None:
            _soon(loop, lambda: self._noted(ticket, check))

        try:
            ticket.grading = self._judge.submit(
                Submission.of_text(ticket.ask.source),  # as a str it could be a path
                ticket.ask.problem,
                seed=ticket.ask.seed,
                verdict_only=ticket.ask.verdict_only,
                on_check=on_check,
            )
        except JudgeError as error:  # the bank has changed since it was accepted
            self._end(ticket, Reason.JUDGE_FAILED, clean(str(error)), None)
        else:
            ticket.grading.future.add_done_callback(
                lambda future: _soon(loop, lambda: self._graded(ticket, future))
            )

    def _noted(self, ticket: Ticket, check: CheckResult) -> None:
        ticket.checks.append(check)
        ticket.tell()

    def _graded(self, ticket: Ticket, future: Future[Report]) -> None:
        """Take what came of a grade: a report, or the reason why there is none."""
        if ticket.id not in self._tickets:  # the server has stopped waiting
            return
        try:
            report = future.result()
        except Exception as error:
            if ticket.because is Reason.QUEUE_TIMEOUT:
                told = f"it waited longer than {self._queue_timeout_s:g} s"
                self._end(ticket, ticket.because, told, None)
                return
            if ticket.because is not None:
                self._end(ticket, ticket.because, "it was cancelled", None)
                return
            self._metrics.failed(error)
            if ticket.tries < _TRIES and self._is_closing:
                self._leave([ticket])  # on disk it waits for the next start
            elif ticket.tries < _TRIES:
                ticket.checks.clear()
                self._enter(ticket)
            else:
                self._end(ticket, Reason.JUDGE_FAILED, clean(str(error), 4_000), None)
        else:
            self._mean_s += _RECENT * (report.timings_s.get("total", _USUAL_S) - self._mean_s)
            self._metrics.graded(report)
            self._end(ticket, Reason.VERDICT, "", report.model_dump_json())

    def _end(self, ticket: Ticket, reason: Reason, message: str, report: str | None) -> None:
        if report is None:
            self._metrics.ended(reason)
        assert self._loop is not None
        self._loop.create_task(self._kept(ticket, reason, message, report))

    async def _kept(self, ticket: Ticket, reason: Reason, message: str, report: str | None) -> None:
        """Put an end on disk before anyone is told of it."""
        while True:
            try:
                await asyncio.to_thread(self._store.finish, ticket.id, reason, message, report)
                break
            except sqlite3.Error as error:  # such as a full disk, on which there may be room again
                self._metrics.failed(error)
                if self._is_closing:
                    break
                await asyncio.sleep(_LOOK_EVERY_S)
        self._leave([ticket])

    def _leave(self, tickets: Sequence[Ticket]) -> None:
        for ticket in tickets:
            self._tickets.pop(ticket.id, None)
            ticket.done = True
            ticket.tell()

    async def _sweep(self) -> None:
        """Take back what has waited too long for its turn, and forget what is old."""
        forgotten_at = -math.inf
        while True:
            now = time.monotonic()
            if now - forgotten_at > _FORGET_EVERY_S:
                forgotten_at = now
                try:
                    await asyncio.to_thread(self._store.forget, self._keep_s)
                except sqlite3.Error as error:
                    self._metrics.failed(error)
            for ticket in [*self._tickets.values()]:
                if not ticket.is_running and now - ticket.asked_at > self._queue_timeout_s:
                    self.cancel(ticket, Reason.QUEUE_TIMEOUT)
            await asyncio.sleep(_LOOK_EVERY_S)

    def _counted(self, running: bool) -> int:
        return sum(ticket.is_running is running for ticket in [*self._tickets.values()])

    def _room_in_s(self, count: int) -> int:
        """Return when there will be room for some more, by what grades have taken."""
        too_many = len(self._tickets) + count - self._most
        return max(1, math.ceil(too_many * self._mean_s / self._workers))


def _seeded(ask: Ask) -> Ask:
    """Return an ask with a seed: what is graded again is asked the same."""
    return ask if ask.seed is not None else ask.model_copy(update={"seed": fresh_seed()})


def _soon(loop: asyncio.AbstractEventLoop, what: Callable[[], None]) -> None:
    """Do something in the loop's thread, unless the loop has ended."""
    with suppress(RuntimeError):
        loop.call_soon_threadsafe(what)
