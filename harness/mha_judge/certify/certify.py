"""Certifies a problem: its grader must reject what it should and accept what it should."""

from __future__ import annotations

import functools
import itertools
import math
import random
import secrets
import time
from collections.abc import Callable, Collection, Iterator, Sequence

from mha_judge.bank import Bank
from mha_judge.bank.ladder import faults_of as ladder_faults
from mha_judge.bank.listing import circle
from mha_judge.bank.mistake import Mistake
from mha_judge.bank.mutation import mutants
from mha_judge.bank.scaffold import missing, placeholders
from mha_judge.certify.agreement import compare_all
from mha_judge.certify.baselines import WORTHLESS, baselines
from mha_judge.certify.corner_faults import TOLD, corner_faults
from mha_judge.certify.draw import PARTS, RARELY, Draw
from mha_judge.certify.equivalents import read_equivalents
from mha_judge.certify.grades import Graders, Specimen
from mha_judge.certify.models import (
    MAX_SPREAD,
    MAX_STARTER_SCORE,
    MAX_WORTHLESS_SCORE,
    MIN_MARGIN,
    Baseline,
    Certificate,
    Fault,
    Kill,
    Mutant,
    Names,
    Pair,
    Tally,
)
from mha_judge.certify.statements import faults_of, without_hint
from mha_judge.diagnosis import Catalogue
from mha_judge.diagnosis.derived import DERIVED
from mha_judge.diagnosis.programs import Program
from mha_judge.grading.checks.claims import CLAIMS
from mha_judge.judge import MAX_SEED
from mha_judge.outcomes import Category, Outcome, Severity, Verdict
from mha_judge.report.models import CheckResult, Report
from mha_judge.syntax import syntax_error

OnProgress = Callable[[str, int, int], None]
"""Called with the kind that is being graded, how many are done, and how many there are."""

_MAX_PAIRS = 4
"""Pairs of mistakes that are tried for one problem, and corner faults whose diagnoses are seen."""
_NONE = "nothing"
"""What stands in place of a name where none was given."""
_ROUNDING = 0.1
_MORE_SEEDS = 4
"""Further seeds, which show whether a check fails by chance only."""
_SHARED = frozenset(claim.id for claim in CLAIMS)
"""Claims of every problem, which corner faults prove and no mistake need fail."""


def certify(
    bank: Bank,
    problem_id: str,
    graders: Graders,
    seeds: Sequence[int],
    *,
    with_mutants: bool = True,
    draw: Draw | None = None,
    progress: OnProgress = lambda what, done, of: None,
) -> Certificate:
    """Return the certificate of one problem.

    Args:
        bank: Holds the problem.
        problem_id: The problem's id.
        graders: The processes that grade.
        seeds: The reference and every mistake are graded under each seed, the rest under the
            first.
        with_mutants: Whether changes to the reference are tried as well.
        draw: Chooses the mutants, mistakes, pairs, worthless answers and corner faults; None: all.
        progress: Called after every grade.

    Raises:
        JudgeError: The bank is broken, or no verdict could be reached.
    """
    started = time.monotonic()
    work = _Certifying(bank, problem_id, graders, list(seeds), draw, progress)
    if not work.unfinished():  # grades of an unfinished problem say nothing
        work.reference()
        work.agreement()
        work.starter()
        work.mistakes()
        work.pairs()
        work.baselines()
        work.corner_faults()
        if with_mutants:
            work.mutants()
    work.certificate.seconds = round(time.monotonic() - started, 1)
    return work.certificate


def seeds_from(first: int | None, count: int) -> list[int]:
    """Return `count` seeds, one after another; from a fresh one if `first` is None."""
    start = secrets.randbelow(MAX_SEED - count) if first is None else first
    return list(range(start, start + count))


def _unreadable(mistakes: Sequence[Mistake]) -> Iterator[str]:
    """Yield for each mistake whose edits leave no Python where they went wrong."""
    for mistake in mistakes:
        for source in (mistake.source, *mistake.others.values()):
            if (error := syntax_error(source)) is not None:
                line = (error.text or "").strip()
                yield f"mistake {mistake.id}: {error.msg} in {line!r}; correct its edits"
                break


class _Certifying:
    def __init__(
        self,
        bank: Bank,
        problem_id: str,
        graders: Graders,
        seeds: list[int],
        draw: Draw | None,
        progress: OnProgress,
    ) -> None:
        self._bank = bank
        self._problem = bank.problem(problem_id)
        self._graders = graders
        self._seeds = seeds
        self._draw = draw
        self._progress = progress
        self._checks: list[CheckResult] = []
        self.certificate = Certificate(problem=problem_id, seeds=seeds, checks={})

    @functools.cached_property
    def _source(self) -> str:
        """The reference's source; an unfinished problem may have none yet."""
        return self._bank.reference(self._problem.id).read_text(encoding="utf-8")

    def _fault(self, subject: str, message: str) -> None:
        self.certificate.faults.append(Fault(subject=subject, message=message))

    def _takes(self, name: str, parts: int = PARTS) -> bool:
        return self._draw is None or self._draw.takes(self._problem.id, name, parts)

    @functools.cached_property
    def _taken_pairs(self) -> dict[str, Program]:
        """The pairs that are tried: those drawn, and those of a mistake that has changed."""
        changed = self._draw.mistakes if self._draw else ()
        return {
            name: pair
            for name, pair in self._pairs.items()
            if self._takes(name) or any((self._problem.id, m.id) in changed for m in pair.mistakes)
        }

    def _grade(
        self, kind: str, sources: dict[str, str], seeds: Sequence[int], of: int | None = None
    ) -> list[tuple[Specimen, Report]]:
        """Return the reports on sources; `of` is the count of all, if these are only a part."""
        started = time.monotonic()
        tasks = [
            Specimen(self._problem.id, kind, name, source, seed)
            for name, source in sources.items()
            for seed in seeds
        ]
        graded = []
        for task, report in self._graders.reports(tasks):
            graded.append((task, report))
            self._progress(kind, len(graded), len(tasks))
        tally = self.certificate.graded.setdefault(kind, Tally())
        tally.tried += len(sources)
        tally.of += len(sources) if of is None else of
        tally.seconds += time.monotonic() - started
        return graded

    def _compare_names(self, report: Report, made: Collection[str]) -> None:
        """Count which of an answer's mistakes are named and which are missing, and false names."""
        named = {one.id for one in report.diagnoses if not one.id.startswith(DERIVED)}
        self.certificate.names += Names(
            right=len(named.intersection(made)),
            missing=len({*made} - named),
            false=len(named.difference(made)),
        )

    def unfinished(self) -> bool:
        """Whether it is too early to grade: each text that is missing or wrong is a fault.

        All faults are reported at once, before anything is graded.
        """
        marked = placeholders(self._bank, self._problem.id)
        lacking = missing(self._bank, self._problem.id)
        for fault in [*marked, *(f"{name} is missing; write it" for name in lacking)]:
            self._fault("unfinished", fault)
        if marked or any(name.endswith(".py") for name in lacking):
            return True
        texts = [
            *faults_of(self._bank, self._problem),
            *ladder_faults(self._bank, self._problem.id),
            *_unreadable(self._bank.mistakes(self._problem.id)),
        ]
        ids = circle(self._bank)
        if self._problem.id in ids:
            texts.append(f"problem.toml: requires: a circle, {' ← '.join(ids)}; open it")
        for fault in texts:
            self._fault("texts", fault)
        return bool(lacking or texts)

    def reference(self) -> None:
        """The reference gets 100 for every seed, on the advisory checks too."""
        for task, report in self._grade("reference", {"reference": self._source}, self._seeds):
            self.certificate.reference_scores.append(report.score)
            lacking = report.without_gpu
            bad = [
                c.id for c in report.checks if c.outcome is not Outcome.PASSED and c not in lacking
            ]
            self.certificate.no_gpu = report.no_gpu
            self.certificate.device = report.device
            if report.verdict is not Verdict.ACCEPTED or bad:
                what = ", ".join(bad) or str(report.verdict)
                self._fault("reference", f"is not accepted under seed {task.seed}: {what}")
            self._checks = report.checks
        self.certificate.checks = {check.id: check.title for check in self._checks}
        self.certificate.advisory = [check.id for check in self._checks if check.advisory]

    def agreement(self) -> None:
        """The reference agrees with implementations from elsewhere; each category has a hint."""
        for fault in without_hint(self._problem, {check.category for check in self._checks}):
            self._fault("texts", fault)
        names, faults = compare_all(self._bank, self._problem.id)
        self.certificate.agreements = names
        for fault in faults:
            self._fault("reference", fault)

    def starter(self) -> None:
        """The starter loads, is rejected, and earns next to nothing."""
        source = self._bank.starter(self._problem.id)
        for _, report in self._grade("starter", {"starter": source}, self._seeds[:1]):
            self.certificate.starter_score = report.score
            if report.verdict is not Verdict.REJECTED or report.score >= MAX_STARTER_SCORE:
                found = f"{report.verdict} with {report.score:g}"
                self._fault("starter", f"is {found}; it must be rejected with less than 20")

    def mistakes(self) -> None:
        """Every mistake is killed by its check, clearly, and named as itself."""
        every = self._bank.mistakes(self._problem.id)
        here = [m for m in every if m.device == "cpu" or not self.certificate.no_gpu]
        self.certificate.mistakes_without_gpu = [m.id for m in every if m not in here]
        paired = {m.id for pair in self._taken_pairs.values() for m in pair.mistakes}
        listed = {m.id: m for m in here if m.id in paired or self._takes(m.id)}
        sources = {name: m.source for name, m in listed.items()}
        kills = {
            name: Kill(id=name, title=m.title, killed_by=m.killed_by) for name, m in listed.items()
        }
        for task, report in self._grade("mistakes", sources, self._seeds, len(here)):
            _note(kills[task.name], report)
            self._compare_names(report, [task.name])
        self.certificate.mistakes = list(kills.values())
        self._look_again(kills, listed)
        for kill in kills.values():
            self._judge(kill, listed[kill.id])
        if len(listed) == len(here):
            self._judge_checks()

    def _look_again(self, kills: dict[str, Kill], listed: dict[str, Mistake]) -> None:
        """Keep in `left` only the checks that fail under every seed though the mistake is granted.

        What dropout does in training is random, and so is whether a mistake shows there.
        """
        doubtful = [name for name, kill in kills.items() if kill.left and listed[name].has_values]
        more = range(self._seeds[-1] + 1, self._seeds[-1] + 1 + _MORE_SEEDS)
        sources = {name: listed[name].source for name in doubtful}
        for task, report in self._grade("left by chance", sources, more):
            left = {check.id for check in report.checks if _is_left(check)}
            kills[task.name].left = [one for one in kills[task.name].left if one in left]

    def _judge(self, kill: Kill, mistake: Mistake) -> None:
        subject = f"mistake {kill.id}"
        if mistake.killed_by not in self.certificate.checks:
            self._fault(subject, f"killed_by: no check is called {mistake.killed_by!r}")
            return
        if not kill.killed:
            how = kill.outcomes.get(kill.killed_by, Outcome.NOT_ASSESSED)
            self._fault(
                subject,
                f"survives its check {kill.killed_by} ({how}); correct the check or killed_by",
            )
        if kill.margin is not None and kill.margin < MIN_MARGIN:
            self._fault(
                subject,
                f"is killed by a margin of {kill.margin:.1f} only; {MIN_MARGIN:g} is needed",
            )
        named = [one for one in kill.diagnoses if not (mistake.by_chance and one.startswith(_NONE))]
        if named:
            self._fault(subject, f"is not diagnosed as itself, but as {'; '.join(named)}")
        if mistake.severity is None:
            known = ", ".join(Severity)
            self._fault(subject, f"has no severity; it must be one of {known}")
        if kill.left and mistake.has_values:
            left = ", ".join(kill.left)
            self._fault(subject, f"where it is granted it still fails {left}")
        spread = max(kill.scores, default=0.0) - min(kill.scores, default=0.0)
        if spread > MAX_SPREAD and not mistake.by_chance:
            apart = f"{min(kill.scores):g} to {max(kill.scores):g}"
            self._fault(subject, f"scores from {apart}, as the seed has it; {MAX_SPREAD:g} is much")

    def _judge_checks(self) -> None:
        """A check that no mistake ever fails may be one that cannot fail."""
        failed = {
            check
            for kill in self.certificate.mistakes
            for check, outcome in kill.outcomes.items()
            if outcome.is_bad
        }
        for check in self._checks:
            if check.id not in failed and not check.advisory and check.id not in _SHARED:
                self._fault(
                    f"check {check.id}", "no mistake fails it; add one that does, or remove it"
                )

    @functools.cached_property
    def _pairs(self) -> dict[str, Program]:
        """Some programs that make two mistakes, by the ids of these; read it after `mistakes()`."""
        no_gpu = {*self.certificate.mistakes_without_gpu}
        listed = {m.id: m for m in self._bank.mistakes(self._problem.id) if m.id not in no_gpu}
        catalogue = Catalogue(self._source, list(listed.values()))
        names = [name for name in catalogue.programs if name in listed]
        random.Random(self._seeds[0]).shuffle(names)
        chosen = itertools.islice(catalogue.pairs(names), _MAX_PAIRS)
        return {" and ".join(mistake.id for mistake in pair.mistakes): pair for pair in chosen}

    def pairs(self) -> None:
        """An answer that makes two mistakes scores less than one that makes either of them."""
        alone = {kill.id: kill for kill in self.certificate.mistakes}
        ids = {name: [m.id for m in pair.mistakes] for name, pair in self._pairs.items()}
        sources = {
            name: pair.source
            for name, pair in self._taken_pairs.items()
            if all(alone[one].scores for one in ids[name])
        }
        for task, report in self._grade("pairs", sources, self._seeds[:1], len(ids)):
            both = ids[task.name]
            self.certificate.pairs.append(Pair(ids=both, score=report.score))
            self._compare_names(report, both)
            scores = [alone[name].scores[0] for name in both]
            named = {diagnosis.id for diagnosis in report.diagnoses}
            # one mistake may hide the other; if both show, both are charged
            limit = min(scores) if named.issuperset(both) else max(scores) + _ROUNDING
            if report.score >= limit:
                singly = " and ".join(f"{score:g}" for score in scores)
                self._fault("pairs", f"{task.name} score {report.score:g}; alone {singly}")

    def baselines(self) -> None:
        """No baseline is accepted, and those in `WORTHLESS` score next to nothing."""
        every = baselines(self._problem, self._source)
        sources = {name: source for name, source in every.items() if self._takes(name)}
        told = {name: source for name, source in sources.items() if name in WORTHLESS}
        rest = {name: source for name, source in sources.items() if name not in WORTHLESS}
        of = len(WORTHLESS.intersection(every))
        graded = [
            *self._grade("worthless", told, self._seeds[:1], of),
            *self._grade("baselines", rest, self._seeds[:1], len(every) - of),
        ]
        for task, report in graded:
            accepted = report.verdict is Verdict.ACCEPTED
            self.certificate.baselines.append(
                Baseline(name=task.name, accepted=accepted, score=report.score)
            )
            if accepted:
                self._fault("baselines", f"accepted; add a check that rejects it: {task.name}")
            elif task.kind == "worthless" and report.score > MAX_WORTHLESS_SCORE:
                names = " and ".join(diagnosis.id for diagnosis in report.diagnoses)
                self._fault(
                    "baselines",
                    f"{task.name} score {report.score:g}{names and f' as {names}'}; "
                    f"{MAX_WORTHLESS_SCORE:g} is the most that what is worth nothing may have",
                )

    def corner_faults(self) -> None:
        """A reference that is wrong in one manner of call is rejected for just that manner."""
        every = {" ".join(one): (one, s) for one, s in corner_faults(self._problem, self._source)}
        sources = {name: source for name, (_, source) in every.items() if self._takes(name)}
        most = min(_MAX_PAIRS, len(every))
        share = math.ceil(most * len(sources) / max(len(every), 1))
        chance = random.Random(f"{self._seeds[0]} {self._draw.turn if self._draw else ''}")
        chosen = {name: sources.pop(name) for name in chance.sample([*sources], share)}
        graded = [
            *self._grade("corner faults", sources, self._seeds[:1], len(every) - len(chosen)),
            *self._grade("named corner faults", chosen, self._seeds[:1]),
        ]
        for task, report in graded:
            axis, value = every[task.name][0]
            messages = [c.message for c in report.checks if c.id in _SHARED and c.outcome.is_bad]
            [claim] = [claim for claim in CLAIMS if axis in claim.axes]
            # another axis of the claim may show first: a layer that is loaded is also a copy
            words = [words for one in claim.axes for words in TOLD.get(one, ())]
            known = any(one in message for message in messages for one in words)
            known = known or (axis not in TOLD and report.verdict is not Verdict.ACCEPTED)
            self.certificate.corner_faults.append(Baseline(name=task.name, accepted=not known))
            if task.name in chosen:
                self._compare_names(report, [])
            if not known:
                told = "; ".join(messages) or f"{report.verdict}, and no claim about it failed"
                self._fault("corner faults", f"wrong in {axis}, {value}: {told}")

    def mutants(self) -> None:
        """Every change to the reference is noticed, or listed with a reason."""
        changes = {change.text: change for change in mutants(self._source)}
        reasons = read_equivalents(self._bank, self._problem.id)
        sources = {
            text: change.source
            for text, change in changes.items()
            if self._takes(text, RARELY if text in reasons else PARTS)
        }
        self.certificate.mutants = len(sources)
        for task, report in self._grade("mutants", sources, self._seeds[:1], len(changes)):
            if report.verdict is not Verdict.ACCEPTED:
                if task.name in reasons:
                    self._fault(
                        "mutants", f"listed as equivalent, but rejected; remove it: {task.name}"
                    )
                continue
            reason = reasons.get(task.name)
            self.certificate.survivors.append(
                Mutant(change=task.name, line=changes[task.name].line, reason=reason)
            )
            if reason is None:
                line = changes[task.name].line
                self._fault(
                    "mutants",
                    f"accepted; add a check, or list it with a reason: line {line}: {task.name}",
                )
        for text in reasons.keys() - changes.keys():
            self._fault("mutants", f"listed as equivalent, but not tried; remove it: {text}")


def _note(kill: Kill, report: Report) -> None:
    """Add what one grade says of a mistake; of several, the worst for the grader counts."""
    for check in report.checks:
        before = kill.outcomes.get(check.id)
        if before is None or check.outcome.is_bad:
            kill.outcomes[check.id] = check.outcome
    killer = next((check for check in report.checks if check.id == kill.killed_by), None)
    if killer is None or not killer.outcome.is_bad:
        kill.killed = False
        if killer is not None:
            kill.outcomes[killer.id] = killer.outcome
    elif killer.margin is not None:
        kill.margin = killer.margin if kill.margin is None else min(kill.margin, killer.margin)
    named = [diagnosis.id for diagnosis in report.diagnoses]
    is_granted = any(check.granted for check in report.checks)
    left = [c.id for c in report.checks if _is_left(c)] if is_granted else []
    kill.left = list(dict.fromkeys([*kill.left, *left]))
    if not left:
        kill.scores.append(report.score)
    if named[:1] != [kill.id]:
        text = f"{' and '.join(named) or _NONE} under seed {report.seed}"
        kill.diagnoses.append(text)


def _is_left(check: CheckResult) -> bool:
    """Return whether a check neither passes nor is granted; rules, never granted, do not count."""
    counts = not (check.advisory or check.only_if_right or check.category is Category.POLICY)
    return counts and check.outcome is not Outcome.PASSED and not check.granted
