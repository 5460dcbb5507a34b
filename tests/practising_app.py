"""The app without a terminal, and a judge that says what it was told to say."""

import asyncio
import threading
import time
from concurrent.futures import CancelledError

from practising import BANK, report_of

from mha_judge.app.app import PracticeApp
from mha_judge.app.session import Session
from mha_judge.outcomes import Sample, Verdict
from mha_judge.pool import Grading, Job
from mha_judge.practice.progress import Progress
from mha_judge.report.models import CheckResult, LoadProblem

WAIT_S = 20.0
WRONG = "def softmax(x, axis=-1):\n    return x\n"
RIGHT = "def softmax(x, axis=-1):\n    return right(x)\n"


def check_of(title, outcome="passed", **fields):
    values = {"id": title, "category": "values", "points": 0, "max_points": 1, **fields}
    return CheckResult(title=title, outcome=outcome, **values)


def report_on(source, problem="softmax"):
    """Return what the judge says of a text: `right` is right, `def (` does not load."""
    if "def (" in source:
        failed = report_of(problem, score=0.0)
        problem_in_it = LoadProblem(message="invalid syntax", line=1, column=5, source="def (")
        return failed.model_copy(update={"verdict": Verdict.ERROR, "load_problem": problem_in_it})
    if "right" in source:
        done = report_of(problem, accepted=True)
        return done.model_copy(update={"checks": [check_of("Returns weights")]})
    rejected = report_of(problem, "no-max-subtraction", score=70.0)
    drawn = Sample(label="output", place="[0, :2]", expected=[[0.0, 1.0]], actual=[[1.0, 1.0]])
    rejected.diagnoses[0].cost = 15.0
    rejected.diagnoses[0].checks = ["Does not overflow"]
    checks = [
        check_of("Returns weights"),
        check_of("Does not overflow", "failed", message="has NaN", sample=drawn),
        check_of("A vector is one row", "not_assessed"),
    ]
    return rejected.model_copy(update={"checks": checks})


class _Held(Grading):
    def __init__(self, job):
        super().__init__(job)
        self.left = threading.Event()

    def cancel(self):
        self.left.set()


class FakeJudge:
    """Grades in a thread, as a judge does; while it is held, reports do not come."""

    def __init__(self):
        self.asked = []
        self.cancelled = []
        self.error = None
        self.go_on = threading.Event()
        self.go_on.set()
        self.is_warm = self.is_closed = False

    def warm_up(self):
        self.is_warm = True

    def submit(self, answer, problem, *, on_check):
        grading = _Held(Job(problem=problem, submission=answer, seed=1))
        self.asked.append(answer.source)
        threading.Thread(target=self._grade, args=(grading, on_check), daemon=True).start()
        return grading

    def _grade(self, grading, on_check):
        source = grading.job.submission.source
        report = report_on(source, grading.job.problem)
        for check in report.checks:
            on_check(check)
        deadline = time.monotonic() + WAIT_S
        while not (self.go_on.wait(0.01) or grading.left.is_set()):
            assert time.monotonic() < deadline
        if grading.left.is_set():
            self.cancelled.append(source)
            grading.future.set_exception(CancelledError())
        elif self.error is not None:
            grading.future.set_exception(self.error)
        else:
            grading.future.set_result(report)

    def close(self):
        self.is_closed = True


class CountingJudge:
    """A judge that grades, and tells which answers it was asked about."""

    def __init__(self, judge):
        self._judge = judge
        self.asked = []

    def warm_up(self):
        self._judge.warm_up()

    def submit(self, answer, problem, *, on_check):
        self.asked.append(answer.source)
        return self._judge.submit(answer, problem, on_check=on_check)

    def processes(self):
        """Return the processes that it has."""
        return self._judge._workforce._processes

    def close(self):
        self._judge.close()


class Opened:
    """An app that is running, with what one sees of it."""

    def __init__(self, app, pilot, judge):
        self.app, self.pilot, self.judge = app, pilot, judge
        self.session = app.session

    @property
    def text(self):
        """All that is on the screen now, line by line; the list stands before what is beside it."""
        strips = self.app.screen._compositor.render_strips()
        right = (
            self.app.main_screen.query("#right") if self.app.screen is self.app.main_screen else []
        )
        cut = right.first().region.x if right else 0
        parts = [[strip.crop(0, cut) for strip in strips[:-2]]] if cut else []
        parts.append([strip.crop(cut) for strip in strips[:-2]])
        lines = [strip.text.rstrip() for part in (*parts, strips[-2:]) for strip in part]
        return "\n".join(lines)

    @property
    def told(self):
        """The sentences that lie above the screen now."""
        return "\n".join(one.message for one in self.app._notifications)

    @property
    def footer(self):
        return self.text.splitlines()[-1]

    async def until(self, condition, what="it"):
        deadline = time.monotonic() + WAIT_S
        while not condition():
            assert time.monotonic() < deadline, f"{what} did not happen:\n{self.text}\n{self.told}"
            await self.pilot.pause(0.01)
        await self.pilot.pause()

    async def see(self, *words):
        """Wait until each of some words is seen or told, however lines break."""

        def flat(text):
            return "".join(text.split())

        def seen(one):
            return flat(one) in flat(self.text) or flat(one) in flat(self.told)

        for one in words:
            await self.until(lambda one=one: seen(one), f"seeing {one!r}")

    async def press(self, *keys):
        await self.pilot.press(*keys)
        await self.pilot.pause()

    async def begin(self, problem=None):
        """Begin what is open; return its file."""
        await self.until(lambda: self.session.current is not None)
        if problem is not None:
            await self.app.main_screen._open(problem)
        await self.press("b")
        await self.until(lambda: self.app.main_screen._state.path is not None)
        return self.session.state().path

    async def hand_in(self, path, source):
        """Save a file until it is graded: watching it begins a moment after it was begun."""
        asked = len(self.judge.asked)
        deadline = time.monotonic() + WAIT_S
        while len(self.judge.asked) == asked:
            assert time.monotonic() < deadline, "it was not graded"
            path.write_text(source, encoding="utf-8")
            pause = time.monotonic() + 1.0
            while len(self.judge.asked) == asked and time.monotonic() < pause:
                await self.pilot.pause(0.02)

    async def graded(self):
        await self.until(lambda: self.session.answer and self.session.answer.report, "a report")


def use(steps, *, store, folder, clock=None, size=(100, 30), judge=None, **options):
    """Open the app, do something with it, and close it."""
    judge = judge or FakeJudge()

    async def main(session):
        app = PracticeApp(session)
        async with app.run_test(size=size) as pilot:
            await steps(Opened(app, pilot, judge))

    with Progress(store) as progress:
        session = Session(BANK, progress, lambda: judge, folder=folder, clock=clock, **options)
        try:
            asyncio.run(main(session))
        finally:
            session.close()
    return judge
