"""One learner at work: answers are kept, hints are sold, rounds end and are rated."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from fsrs import Rating

from mha_judge.bank import Bank, module_name
from mha_judge.bank.ladder import PRICES, RUNGS, read_ladders
from mha_judge.bank.questions import Choice, Question
from mha_judge.errors import UsageError
from mha_judge.practice import reviews
from mha_judge.practice.order import misconceptions
from mha_judge.practice.progress import Attempt, End, Progress, Round
from mha_judge.practice.standing import standings
from mha_judge.report.models import Report
from mha_judge.submission import Submission

_BREAK = 2
"""A pause longer than so many times what a problem is meant to take is no work on it."""


def now() -> datetime:
    return datetime.now(UTC)


def write_starter(bank: Bank, problem: str, path: Path, *, overwrite: bool = False) -> None:
    """Write a problem's starter.

    Raises:
        UsageError: If it cannot be written there, or something is there that is not overwritten.
    """
    text = bank.starter(problem)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("w" if overwrite else "x", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        why = f"cannot be written: {error.strerror}; name another folder"
        if isinstance(error, FileExistsError) and path.exists():  # and not a file for the folder
            why = "exists; pass --force to overwrite it, or name another folder"
        raise UsageError(f"{path} {why}") from error


@dataclass(frozen=True)
class Kept:
    """What was made of an answer."""

    attempt: Attempt
    number: int
    """Which attempt of the round it is, from 1."""
    solved: bool
    """Whether the round has ended with it."""
    due: datetime | None = None
    """When the problem comes back, if it was solved."""
    told: frozenset[str] | None = None
    """Ids of the mistakes that hints were taken for; None once the round has ended, when all may be
    told."""


@dataclass(frozen=True)
class Offer:
    """The next rung of a ladder, not yet told."""

    problem: str
    round: int
    mistake: str
    """Its id; empty for the ladder of the problem itself."""
    title: str
    """Of the mistake, in the language that was asked for; empty before its first rung is told."""
    rung: int
    """Counted from 0."""
    rungs: int
    """How many this ladder has."""
    price: float
    text: str
    """To be shown once it was taken."""

    @property
    def tells(self) -> str:
        """What kind of hint it is."""
        return RUNGS[self.rung]


class Learner:
    """What one can do, with everything kept."""

    def __init__(self, bank: Bank, progress: Progress, clock: Callable[[], datetime] = now) -> None:
        """Take the problems, where progress is kept, and what tells the time."""
        self.bank = bank
        self.progress = progress
        self._clock = clock

    # rounds

    def begin(self, problem: str, path: Path) -> Round:
        """Begin a round in a file, or go on with the one that is open, there."""
        solved = standings(self.progress).get(problem)
        review = solved is not None and solved.solved is not None
        return self.progress.begin(problem, str(path.resolve()), self._clock(), review=review)

    def round_of(self, path: Path) -> Round | None:
        """Return the last round that was worked on in a file."""
        return self.progress.round_of_file(str(path.resolve()))

    def free_path(self, problem: str, folder: Path) -> Path:
        """Return where a fresh starter can be written without touching what is there."""
        name = module_name(problem)
        names = [f"{name}.py", *(f"{name}_{number}.py" for number in range(2, 1000))]
        return next(path for path in map(folder.joinpath, names) if not path.exists())

    def begin_afresh(self, problem: str, folder: Path, *, anew: bool = False) -> Path:
        """Write the starter to where nothing lies, and begin there; return the file.

        A round that is open goes on there with all that it has shown, unless it is to be ended.

        Args:
            problem: Its id.
            folder: Where the file goes.
            anew: Whether a round that is open ends; what it has shown stays known.

        Raises:
            UsageError: If it cannot be written there.
        """
        path = self.free_path(problem, folder)
        write_starter(self.bank, problem, path)
        if anew:
            self._start_over(problem)
        self.begin(problem, path)
        return path

    def may_see_solution(self, problem: str) -> bool:
        """Whether a problem was solved or given up, and is not being worked on again."""
        self.bank.require(problem)
        last = self.progress.last_round(problem)
        return last is not None and last.end in (End.SOLVED, End.GIVEN_UP)

    def keep(self, round_: Round, submission: Submission, report: Report) -> Kept | None:
        """Keep an answer and its report; one that is accepted ends the round and is rated.

        None is made of what is still the starter: nothing was tried.
        """
        if submission.source == self.bank.starter(round_.problem):
            return None
        time = self._clock()
        attempts = self.progress.attempts(round_.id)
        solved = round_.is_open and report.verdict.exit_code == 0
        attempt = Attempt(
            id=0,
            round=round_.id,
            at=time,
            sha256=submission.sha256,
            source=submission.source,
            seed=report.seed,
            verdict=str(report.verdict),
            score=report.score,
            strict_score=report.strict_score,
            diagnoses=tuple(self._known(round_.problem, report)),
            hints=self.progress.spent(round_),
            seconds=self._worked_s(round_, attempts, time),
        )
        self.progress.add_attempt(attempt, End.SOLVED if solved else None)
        due = self._rate(round_, [*attempts, attempt], time) if solved else None
        told = self.mistakes_told(round_) if round_.is_open and not solved else None
        return Kept(attempt, len(attempts) + 1, solved, due, told)

    def kept(self, round_: Round) -> Kept:
        """Return what was made of the last answer of a round, which has one."""
        attempts = self.progress.attempts(round_.id)
        solved = round_.end is End.SOLVED
        card = self.progress.card(reviews.of_problem(round_.problem)) if solved else None
        told = self.mistakes_told(round_) if round_.is_open else None
        return Kept(attempts[-1], len(attempts), solved, card.due if card else None, told)

    def mistakes_told(self, round_: Round) -> frozenset[str]:
        """Return the ids of the mistakes that hints were taken for in a round."""
        return frozenset(hint.mistake for hint in self.progress.hints(round_.id))

    def made(self, problem: str) -> set[str]:
        """Return the ids of the mistakes that the answers of the last round showed."""
        last = self.progress.last_round(problem)
        attempts = [] if last is None else self.progress.attempts(last.id)
        return {mistake for attempt in attempts for mistake in attempt.diagnoses}

    def worked_s(self, round_: Round) -> float:
        """Return the seconds of work in a round, until now or its end; long pauses are no work."""
        attempts = self.progress.attempts(round_.id)
        since = self._worked_s(round_, attempts, self._clock()) if round_.is_open else 0.0
        return sum(attempt.seconds for attempt in attempts) + since

    def give_up(self, problem: str) -> Round:
        """End the open round of a problem, which comes back as new.

        Raises:
            UsageError: If none is open.
        """
        round_ = self._open(problem)
        time = self._clock()
        self.progress.end(round_.id, End.GIVEN_UP, time)
        reviews.rate(self.progress, reviews.of_problem(problem), Rating.Again, time)
        self._rate_shown(round_, self.progress.attempts(round_.id), time)
        return round_

    def _start_over(self, problem: str) -> None:
        """End the open round, if there is one: the problem is not rated, its mistakes are."""
        round_ = self.progress.open_round(problem)
        if round_ is not None:
            time = self._clock()
            self.progress.end(round_.id, End.STARTED_OVER, time)
            self._rate_shown(round_, self.progress.attempts(round_.id), time)

    # hints

    def offer(self, problem: str, language: str) -> Offer:
        """Return the next rung: for the mistake that the last answer showed, else for the problem.

        Raises:
            UsageError: If no round is open, nothing was tried in it, or all rungs were told.
        """
        round_ = self._open(problem)
        attempts = self.progress.attempts(round_.id)
        if not attempts:
            raise UsageError(
                "a hint comes after a try: change the starter, and grade it with "
                f"`mha-judge run {round_.path}`"
            )
        ladders = read_ladders(self.bank, problem, language)
        told = {(hint.mistake, hint.rung) for hint in self.progress.hints(round_.id)}
        for mistake in (*attempts[-1].diagnoses, ""):
            ladder = ladders.of(mistake)
            if ladder is None:  # it has left the bank
                continue
            for rung, text in enumerate(ladder.rungs):
                if (mistake, rung) not in told:
                    title = ladder.title if rung else ""
                    return Offer(
                        problem, round_.id, mistake, title, rung, len(ladder.rungs), PRICES[rung],
                        text,
                    )  # fmt: skip
        raise UsageError(
            f"there is no further hint for {problem}; `mha-judge solution {problem} --give-up` "
            "shows how it is done"
        )

    def take(self, offer: Offer) -> str:
        """Pay for a rung, and return what it tells."""
        self.progress.add_hint(offer.round, offer.mistake, offer.rung, offer.price, self._clock())
        return offer.text

    def told(self, problem: str, language: str) -> list[tuple[str, str]]:
        """Return the hints that were paid for in the open round: the mistake's title, and text."""
        round_ = self.progress.open_round(problem)
        if round_ is None:
            return []
        ladders = read_ladders(self.bank, problem, language)
        found = []
        for hint in self.progress.hints(round_.id):
            ladder = ladders.of(hint.mistake)
            if ladder and hint.rung < len(ladder.rungs):
                found.append((ladder.title, ladder.rungs[hint.rung]))
        return found

    def spent(self, problem: str) -> float:
        """Return what the hints of the open round have cost."""
        return self.progress.spent(self.progress.open_round(problem))

    # questions

    def choose(self, problem: str, question: Question, choice: Choice) -> bool:
        """Rate the misconceptions that a question can show, by what was chosen; say if it is right.

        Args:
            problem: Whose question it is.
            question: One with choices.
            choice: Of that question.
        """
        wrong = question.wrong_by_id
        names = misconceptions(self.bank, problem)
        can_show = {name: wrong[mistake] for name, mistake in names.items() if mistake in wrong}
        right = choice == question.right
        time = self._clock()
        for name, known in can_show.items():
            if known == choice:
                reviews.rate(self.progress, reviews.of_mistake(name), Rating.Again, time)
        for card in reviews.due(self.progress, time) if right else ():
            if reviews.misconception_of(card.name) in can_show:
                reviews.rate(self.progress, card.name, Rating.Good, time)
        return right

    # ratings

    def overrule(self, problem: str, rating: Rating) -> datetime:
        """Rate a problem otherwise than the facts did; return when it is due.

        Raises:
            UsageError: If it has not been rated.
        """
        due = reviews.overrule(self.progress, reviews.of_problem(problem), rating)
        if due is None:
            raise UsageError(f"{problem} has not been rated yet; solve it first")
        return due

    def _rate(self, round_: Round, attempts: list[Attempt], time: datetime) -> datetime:
        hints = self.progress.hints(round_.id)
        facts = reviews.Facts(
            tries=len(attempts),
            seconds=sum(attempt.seconds for attempt in attempts),
            minutes=self.bank.problem(round_.problem).minutes,
            rungs=len(hints),
            changed_told=any(RUNGS[hint.rung] == "change" for hint in hints),
        )
        rating = reviews.rating_of(facts)
        shown = self._rate_shown(round_, attempts, time)
        can_show = misconceptions(self.bank, round_.problem)
        for card in reviews.due(self.progress, time):
            name = reviews.misconception_of(card.name)
            if name in can_show and name not in shown:
                good = Rating.Easy if rating is Rating.Easy else Rating.Good
                reviews.rate(self.progress, card.name, good, time)
        return reviews.rate(self.progress, reviews.of_problem(round_.problem), rating, time)

    def _rate_shown(self, round_: Round, attempts: list[Attempt], time: datetime) -> set[str]:
        """Rate the misconceptions that a round has shown; return their names."""
        made = {mistake for attempt in attempts for mistake in attempt.diagnoses}
        names = misconceptions(self.bank, round_.problem)
        shown = {name for name, mistake in names.items() if mistake in made}
        for name in sorted(shown):
            reviews.rate(self.progress, reviews.of_mistake(name), Rating.Again, time)
        return shown

    def _known(self, problem: str, report: Report) -> list[str]:
        """Return the mistakes that a report names and the bank knows, in the report's order."""
        listed = {mistake.id for mistake in self.bank.mistakes(problem)}
        return [diagnosis.id for diagnosis in report.diagnoses if diagnosis.id in listed]

    def _worked_s(self, round_: Round, attempts: list[Attempt], time: datetime) -> float:
        """Return the seconds since the last attempt, or the beginning; a long pause is no work."""
        since = attempts[-1].at if attempts else round_.began
        longest = _BREAK * self.bank.problem(round_.problem).minutes * 60
        return round(min(max(0.0, (time - since).total_seconds()), longest), 1)

    def _open(self, problem: str) -> Round:
        self.bank.require(problem)
        round_ = self.progress.open_round(problem)
        if round_ is not None:
            return round_
        if self.may_see_solution(problem):
            raise UsageError(
                f"{problem} is solved or given up; `mha-judge review {problem}` begins it afresh"
            )
        raise UsageError(f"{problem} is not begun; `mha-judge start {problem}` begins it")
