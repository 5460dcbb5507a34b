"""A session of practice as pages show it: messages in, every page told.

What a page is told has a `kind`: `words` are what it says; `contents` are the problems and what is
next; `state` is all about the one that is shown; `check` goes with a grade; `offer`, `solution` and
`tried` answer who asked; `said` is a sentence for a while, and `refused` says what did nothing, and
why.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import math
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from mha_judge.app.grading import Checked, Event, Graded
from mha_judge.app.session import Answer, Began, Mark, Overview, Session
from mha_judge.bank.listing import TRACKS
from mha_judge.errors import JudgeError, UsageError
from mha_judge.outcomes import Outcome
from mha_judge.pool.job import Call
from mha_judge.pool.tries import Tries
from mha_judge.practice.learner import Offer, now
from mha_judge.practice.statistics import statistics
from mha_judge.render.markdown import as_html
from mha_judge.render.practice import html
from mha_judge.report.models import CheckResult, Report, Reveal
from mha_judge.report.reveal import revealed, revealed_check
from mha_judge.report.summary import look_at
from mha_judge.sanitising import clean
from mha_judge.submission import MAX_BYTES, Submission
from mha_judge.web_practice import messages
from mha_judge.web_practice.interview import Interview, open_one
from mha_judge.web_practice.messages import (
    Ask,
    Begin,
    Choose,
    Message,
    Note,
    Open,
    Rate,
    Run,
    Try,
)

_LOOK_FOR_SAVES_S = 0.1
_OF_A_REPORT = {
    "verdict", "score", "strict_score", "max_score", "load_problem", "failing_call", "wrong_where",
    "policy", "notes", "no_gpu", "output",
}  # fmt: skip
"""What names no mistake."""


class Page:
    """A browser that shows the desk."""

    def __init__(self) -> None:
        self._unsent: asyncio.Queue[str] = asyncio.Queue()

    def tell(self, kind: str, **body: Any) -> None:
        self._unsent.put_nowait(json.dumps({"kind": kind, **body}))

    async def next(self) -> str:
        """Return what is to be sent now."""
        return await self._unsent.get()


class Desk:
    """One learner's session, and the pages that show it; all in one thread."""

    def __init__(self, session: Session, tries: Tries) -> None:
        """Take what one works at, and what makes calls of one's own."""
        self._session = session
        self._tries = tries
        self._pages: set[Page] = set()
        self._overview: Overview | None = None
        self._offer: Offer | None = None
        self._trying = False
        self._interview: Interview | None = None
        self._tasks: set[asyncio.Task[None]] = set()

    async def run(self) -> None:
        """Open what is next, then notice saves and what grading tells, until cancelled."""
        loop = asyncio.get_running_loop()

        def heard(event: Event) -> None:  # in another thread, and perhaps when all is over
            with suppress(RuntimeError):
                loop.call_soon_threadsafe(self._heard, event)

        self._session.background.listen(heard)
        await self._look()
        self._session.background.warm_up()
        while True:
            await asyncio.sleep(_LOOK_FOR_SAVES_S)
            self._look_for_saves()
            self._look_at_clock()

    def enter(self) -> Page:
        """Tell a page that comes all that there is."""
        page = Page()
        self._pages.add(page)
        self._tell_words(page)
        page.tell("contents", **self._contents())
        page.tell("state", **self._state())
        return page

    def leave(self, page: Page) -> None:
        self._pages.discard(page)

    def progress(self) -> str:
        """Return what practice has come to, as a page of its own; in another thread."""
        session = self._session
        found = statistics(session.bank, session.learner.progress, now())
        return html.render(found, session.bank, session.language)

    def take(self, page: Page, message: Message) -> None:
        """Do what a page asks for."""
        session = self._session
        try:
            match message:
                case Open():
                    self._require_no_interview()
                    self._open(message.problem)
                case Begin():
                    began, path = session.begin()
                    page.tell("said", text=session.words[began.value].format(path=path))
                    if began is not Began.GOES_ON:
                        self._spawn(self._look())
                case Run():
                    if not self._may_show(message.problem):
                        self._require_no_interview()
                    self._open(message.problem)
                    self._write(message)
                    session.grade()
                case Try():
                    self._try(page, message)
                    return
                case Rate():
                    due = session.overrule(message.rating).astimezone()
                    name = session.words[message.rating].replace("：", ":").partition(":")[0]
                    told = session.words["rated"].format(rating=name, day=f"{due:%Y-%m-%d}")
                    page.tell("said", text=told)
                    self._spawn(self._look())
                case Note():
                    session.put_note(message.problem, message.text)
                    return
                case Ask():
                    self._ask(page, message.kind)
                case messages.Interview():
                    self._require_no_interview()
                    self._interview = Interview.begin(session, message.minutes, message.track)
                case Choose():
                    self._in_interview.choose(message.letter)
                case messages.Answer():
                    self._in_interview.answer(message.text)
                case messages.Mark():
                    self._in_interview.mark(message.mark)
        except JudgeError as error:
            page.tell("refused", what=message.kind, why=clean(str(error), 2_000))
            return
        self._tell_state()

    def _ask(self, page: Page, what: str) -> None:
        session = self._session
        match what:
            case "stop":
                if session.stop() and self._interview is not None:
                    with self._going_on():
                        self._interview.failed()
            case "hint":
                self._offer, spent = session.offer()
                page.tell("offer", **_offered(self._offer, spent, session.words))
            case "take":
                offer, self._offer = self._offer, None
                if offer is not None and self._interview is not None:
                    self._interview.take(offer)
                elif offer is not None:
                    session.take(offer)
            case "give up":
                self._require_no_interview()
                session.give_up()
                self._spawn(self._look())
                self._tell_solution(page, given_up=True)
            case "solution":
                self._require_no_interview()
                if not session.may_see_solution():
                    raise UsageError(session.words["give up"].partition("\n")[0])
                self._tell_solution(page, given_up=False)
            case "language":
                session.change_language()
                for one in self._pages:
                    self._tell_words(one)
                self._spawn(self._look())
            case "resume":
                self._interview = Interview.resume(session)
            case "hand in":
                self._in_interview.hand_in()
            case "next":
                self._in_interview.go_on()
            case "leave":
                self._interview = None
                self._spawn(self._look())

    @property
    def _in_interview(self) -> Interview:
        if self._interview is None:
            raise UsageError(self._session.words["no interview"])
        return self._interview

    def _require_no_interview(self) -> None:
        if self._interview is not None and not self._interview.has_ended:
            raise UsageError(self._session.words["in interview"])
        self._interview = None

    def _may_show(self, problem: str) -> bool:
        """Return whether a problem may be shown now: in an interview, only its own."""
        interview = self._interview
        return interview is None or interview.has_ended or interview.problem == problem

    def _open(self, problem: str) -> None:
        if self._session.current is None or self._session.current.id != problem:
            self._session.open(problem)
            self._offer = None

    def _write(self, run: Run) -> None:
        """Write a text into its file, but not over what somebody else has written there."""
        path = self._session.file()
        found = _file(path)
        if found is not None and found.get("version") not in (run.over, _version(run.text)):
            raise UsageError(self._session.words["changed"].format(path=path))
        self._session.write(run.text)

    # what happens by itself

    async def _look(self) -> None:
        """Find out anew what is done and what comes next; open that if nothing is."""
        session = self._session
        try:
            self._overview = await asyncio.to_thread(session.overview)
        except (JudgeError, OSError) as error:
            self._say(str(error))
        if session.current is None:
            proposed = [one.problem for one in self._overview.proposals] if self._overview else []
            every = [line.id for lines in session.tracks.values() for line in lines]
            for problem in [*filter(None, [session.first]), *proposed, *every][:1]:
                session.open(problem)
            self._tell_state()
        for page in self._pages:
            page.tell("contents", **self._contents())

    def _look_for_saves(self) -> None:
        """Grade what was saved with another editor."""
        saved = [one for one in self._session.saved() if self._may_show(one)]
        current = self._session.current
        if not saved or current is None:
            return
        try:
            if current.id not in saved:
                self._open(saved[0])
            self._session.grade()
        except JudgeError as error:
            self._say(str(error))
        self._tell_state()

    def _heard(self, event: Event) -> None:
        if not self._session.take_event(event):
            return
        if isinstance(event, Checked):
            current, answer = self._session.current, self._session.answer
            if answer is not None and current is not None and current.id == event.asked.problem:
                for page in self._pages:
                    page.tell("check", check=self._check(answer.checks[-1], frozenset()))
            return
        if self._interview is not None:
            with self._going_on():
                if isinstance(event, Graded):
                    self._interview.graded(event)
                else:
                    self._interview.failed()
        self._tell_state()
        self._spawn(self._look())

    def _look_at_clock(self) -> None:
        if self._interview is None:
            return
        with self._going_on():
            if self._interview.tick():
                self._tell_state()

    @contextmanager
    def _going_on(self) -> Iterator[None]:
        """Leave the interview if it cannot go on here, and say why; it stays open."""
        try:
            yield
        except JudgeError as error:
            self._interview = None
            self._say(self._session.words["elsewhere"].format(why=error))
            self._tell_state()

    def _try(self, page: Page, asked: Try) -> None:
        if self._trying:
            raise UsageError(self._session.words["busy"])
        call = Call(asked.problem, Submission.of_text(asked.text), asked.call)
        self._trying = True
        self._spawn(self._tried(page, call))

    async def _tried(self, page: Page, call: Call) -> None:
        try:
            page.tell("tried", attempt=await asyncio.to_thread(self._tries.tried, call))
        except JudgeError as error:
            page.tell("refused", what="try", why=clean(str(error), 2_000))
        finally:
            self._trying = False

    def _spawn(self, work: Any) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    # what pages are told

    def _say(self, text: str) -> None:
        for page in self._pages:
            page.tell("said", text=clean(text, 2_000))

    def _tell_words(self, page: Page) -> None:
        page.tell("words", language=self._session.language, words=dict(self._session.words))

    def _tell_state(self) -> None:
        state = self._state()
        for page in self._pages:
            page.tell("state", **state)

    def _tell_solution(self, page: Page, *, given_up: bool) -> None:
        found = self._session.solution()
        page.tell(
            "solution",
            given_up=given_up,
            source=found.source,
            slips=[vars(slip) for slip in found.slips],
            styles=found.styles,
        )

    def _contents(self) -> dict[str, Any]:
        session, overview = self._session, self._overview
        in_chinese = session.language == "zh"
        marks = overview.marks if overview is not None else {}
        proposals = overview.proposals[:1] if overview is not None else ()
        return {
            "tracks": [
                [
                    track,
                    TRACKS.get(track, track) if in_chinese else track,
                    [
                        [one.id, session.title(one), marks.get(one.id, Mark.NEW).value]
                        for one in lines
                    ],
                ]
                for track, lines in session.tracks.items()
            ],
            "next": [
                [one.problem, session.title(line), one.why]
                for one in proposals
                if (line := session.summary(one.problem)) is not None
            ],
            "looked": overview is not None,
            "interview": self._open_interview(),
        }

    def _open_interview(self) -> dict[str, Any] | None:
        try:
            found = open_one(self._session)
        except JudgeError:  # of another version; a new one may begin
            return None
        return None if found is None else {"left": math.ceil(found.left_s / 60)}

    def _state(self) -> dict[str, Any]:
        """Return all that there is to say of the problem that is shown."""
        session = self._session
        line = session.current
        if line is None:
            return {"problem": "", "trouble": session.trouble or session.notice}
        state = session.state()
        which = (line.id, session.language)
        file = _file(state.path)
        return {
            "problem": line.id,
            "title": session.title(line),
            "level": line.level,
            "minutes": line.minutes,
            "task": as_html(session.bank.task(*which)),
            "fine_print": as_html(session.bank.fine_print(*which)),
            "folder": str(session.folder),
            "path": "" if state.path is None else str(state.path),
            "file": file,
            "is_open": state.is_open,
            "end": state.end,
            "attempts": state.attempts,
            "worked_s": state.seconds,
            "points": state.points,
            "price": state.price,
            "may_rate": state.may_rate,
            "may_see": session.may_see_solution(),
            "hints": session.told(),
            "note": session.note(line.id),
            "trouble": session.trouble or session.notice,
            "run": self._run(session.answer, session.mistakes_told()),
            "interview": None if self._interview is None else self._interview.told,
        }

    def _run(self, answer: Answer | None, told: frozenset[str] | None) -> dict[str, Any] | None:
        """Return what came of the last answer, but for the names that no hint has told."""
        if answer is None:
            return None
        if answer.report is None:
            checks = [self._check(one, told) for one in answer.checks]
            reason = "none" if answer.why else ""
            return {"reason": reason, "message": answer.why, "checks": checks}
        kept = answer.kept
        due = kept.due if kept is not None else None
        in_interview = self._interview is not None
        return {
            "reason": "graded",
            "message": "",
            "report": revealed(answer.report, Reveal.CHECKS)
            if in_interview
            else _report(answer.report, told),
            "due": f"{due.astimezone():%Y-%m-%d}" if due is not None else "",
        }

    def _check(self, check: CheckResult, told: Collection[str] | None) -> dict[str, Any]:
        if self._interview is not None:
            return revealed_check(check, Reveal.CHECKS) or {}
        return _check(check, told)


def _file(path: Path | None) -> dict[str, str] | None:
    """Return a file's text, and what tells it from others; or why it cannot be shown."""
    if path is None or not path.exists():
        return None
    try:
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
        if len(data) > MAX_BYTES:
            return {"why": f"> {MAX_BYTES // 1024} KiB"}
        text = data.decode("utf-8-sig").replace("\r\n", "\n").replace("\r", "\n")
    except UnicodeDecodeError as error:
        return {"why": f"it is not UTF-8 text (byte {error.start}); save it as UTF-8"}
    except OSError as error:
        return {"why": clean(str(error), 300)}
    return {"text": text, "version": _version(text)}


def _version(text: str) -> str:
    return hashlib.sha256(text.encode(errors="replace")).hexdigest()[:16]


def _offered(offer: Offer, spent: float, words: Any) -> dict[str, Any]:
    which = "title" if offer.title else "mistake" if offer.mistake else "problem"
    what = words[f"for {which}"].format(title=offer.title)
    text = words["offer"].format(
        rung=offer.rung + 1, rungs=offer.rungs, what=what, tells=words[offer.tells],
        price=offer.price, spent=spent,
    )  # fmt: skip
    return {"text": text}


def _report(report: Report, told: Collection[str] | None) -> dict[str, Any]:
    named = [one for one in report.diagnoses if told is None or one.id in told]
    first = look_at(report)
    return {
        **report.model_dump(mode="json", include=_OF_A_REPORT),
        "checks": [_check(one, told) for one in report.checks],
        "diagnoses": [
            one.model_dump(mode="json", include={"title", "explanation", "cost"}) for one in named
        ],
        "unnamed": len(report.diagnoses) - len(named),
        "first": "" if first is None else first.title,
    }


def _check(check: CheckResult, told: Collection[str] | None) -> dict[str, Any]:
    shown = revealed_check(check, Reveal.HINTS) or {}
    shown.pop("diagnosis", None)
    if told is not None and check.outcome is not Outcome.PASSED:
        shown["explanation"] = ""  # of a question, which may be tried again first
    if check.outcome.is_bad and check.sample is not None:
        shown["sample"] = check.sample.model_dump(mode="json")
    return shown
