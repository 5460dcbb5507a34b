"""Which known mistakes explain the checks that failed.

Every mistake of the problem gets the calls of a failed check, with the weights of the candidate's
layer. A mistake that answers each call as the candidate did, within the error budget, explains the
check. Few mistakes that explain many checks are preferred; between equals, the one that also agrees
with the candidate where the candidate was right.

If no known mistake explains a check, other things are tried: what calls that raise have in common;
and, if an answer is wrong nearly everywhere, small changes of the reference that nobody has listed.

The work is bounded by counts, so that the same seed gives the same diagnosis: at most `MAX_CHECKS`
failed checks are looked at; the search ends once no mistake explains `MAX_UNEXPLAINED` of them; and
for these, `MAX_PAIRS` pairs of mistakes are tried. To tell a mistake from a coincidence, a match is
compared on the checks that passed.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cached_property, lru_cache

import torch

from mha_judge.bank import Bank
from mha_judge.bank.mistake import Mistake
from mha_judge.bank.problem import Entry
from mha_judge.diagnosis.programs import Catalogue, Program, numbers_of
from mha_judge.diagnosis.replay import Replay, tensors_of
from mha_judge.diagnosis.where_wrong import refusing, telling
from mha_judge.file_versions import FileVersion
from mha_judge.grading.binding.arguments import DoesNotFit
from mha_judge.grading.calling.trace import Step, Trace
from mha_judge.grading.expecting.bounds import bounded_memory
from mha_judge.grading.expecting.expected import Live, leaves
from mha_judge.grading.failures import Raised
from mha_judge.outcomes import Outcome, Severity
from mha_judge.report.models import CheckResult, Diagnosis

MAX_CHECKS = 16
MAX_PAIRS = 150
MAX_UNEXPLAINED = 4
MAX_VARIANTS = 8
MARGINAL = 8


def _telling(steps: Sequence[Step]) -> list[Sequence[Step]]:
    """Return a check's steps one by one, or all as one if they build on one another."""
    chained = any(
        step.target.chained or any(isinstance(leaf, Live) for leaf in leaves(step.args))
        for step in steps
    )
    return [steps] if chained else [[step] for step in steps]


@lru_cache(maxsize=64)
def _catalogue(bank: Bank, problem_id: str, state: tuple[FileVersion, ...]) -> Catalogue:
    """Return the mistakes of a problem, for its files in this state."""
    problem = bank.problem(problem_id)
    source = bank.reference(problem_id).read_text(encoding="utf-8")
    return Catalogue(source, bank.mistakes(problem_id), problem.entry)


@dataclass(frozen=True)
class _Failure:
    """A failed check, with its steps up to the one that went wrong."""

    check: CheckResult
    steps: tuple[Step, ...]


def _raised_by(failure: _Failure, entry: Entry) -> str:
    """Return the type's name of what a call of an entry raised; empty if it raised nothing."""
    last = failure.steps[-1]
    if last.target.entry.name != entry.name or not isinstance(last.failure, Raised):
        return ""
    return last.failure.kind


def _tells(failure: _Failure) -> bool:
    """Return whether a result has finite numbers: NaN may have many causes at once."""
    found = tensors_of(failure.steps[-1])
    return not found or any(bool(torch.isfinite(tensor).any()) for tensor in found)


def _is_an_answer(step: Step) -> bool:
    """Return whether values came back: the words of exceptions, and the inputs after a call, may
    differ for other reasons."""
    return step.failure is None and not step.options.get("inputs_after")


@dataclass(frozen=True)
class Explanation:
    """The known mistakes that explain the failures."""

    diagnoses: list[Diagnosis]
    """Mistakes that answer as the candidate did."""
    by_check: list[Diagnosis]
    """Mistakes known only by a check's message, unless those above explain that check too."""
    programs: Callable[[Sequence[Diagnosis]], list[Program]]
    """Returns programs that make the given mistakes alone: a single one for all, if possible, then
    others with constants that explain no less."""
    besides: Callable[[Program, Sequence[CheckResult], Trace, Set[str]], list[Diagnosis]]
    """Returns the mistakes that explain what fails where such a program counts as right."""
    by_dropout: Diagnosis | None
    """The mistake that is right without dropout, if the problem lists one."""
    where: str
    """In words, what the wrong calls that nothing explains have in common; may be empty."""
    unmarked: Collection[str]
    """Ids of the problem's mistakes to which the bank gives no severity."""


class Diagnostician:
    """Knows a problem's mistakes, and names those that a candidate made."""

    def __init__(self, bank: Bank, problem_id: str, source: str) -> None:
        """Take a problem and a candidate's source; mistakes are read only if something is wrong."""
        self._bank = bank
        self._problem_id = problem_id
        self._source = source
        self._state = bank.state_of_mistakes(problem_id)

    @cached_property
    def _catalogue(self) -> Catalogue:
        known = _catalogue(self._bank, self._problem_id, self._state)
        return known.knowing(numbers_of(self._source))

    def recognises(self, step: Step) -> bool:
        """Return whether some mistake answers a step as the candidate did."""
        with bounded_memory():
            for program in self._catalogue.programs.values():
                replay = Replay(program)
                found = replay.agrees([step])
                replay.release()
                if found:
                    return True
        return False

    def explain(
        self,
        results: Sequence[CheckResult],
        trace: Trace,
        also_right: Callable[[Step], list[Step]] = lambda step: [],
    ) -> Explanation:
        """Return the mistakes that explain failed checks, the one that explains most first.

        Args:
            results: The results of the checks.
            trace: The steps of each check.
            also_right: For an answer that is wrong nearly everywhere: makes more calls like a
                wrong one, and returns those that are right.
        """
        problem = self._bank.problem(self._problem_id)
        case = _Case(self._catalogue, results, trace)
        with bounded_memory():
            named = case.by_single_mistakes(self._catalogue.programs, exactly=case.is_of_corners)
            where = ""
            if not case.is_of_corners:
                if case.is_open:
                    named = case.unless_marginal(case.by_pairs(named))
                if not named and case.is_mostly_open:
                    case.ask_more(also_right)
                if not named and case.is_open:
                    named = case.by_refusals(problem.entry)
                if not named and case.is_mostly_open:
                    named = case.by_single_mistakes(self._catalogue.derived, exactly=True)
                where = case.where(problem.entry) if case.is_open else ""
        case.close()
        own = {mistake.id: checks for mistake, checks in case.by_their_check()}

        def programs(diagnoses: Sequence[Diagnosis]) -> list[Program]:
            if not diagnoses:
                return []
            ids = [diagnosis.id for diagnosis in diagnoses]

            def fits(program: Program) -> bool:
                return all(mistake.id in ids for mistake in program.mistakes)

            alone = [name for name in case.alone if fits(self._catalogue.named(name))]
            pairs = [pair for pair in case.together if fits(pair)]
            found = self._catalogue.making([*alone, *ids], pairs)
            for name in alone:
                for other in case.variants.get(name, ())[:MAX_VARIANTS]:
                    others = [other if one == name else one for one in alone]
                    found += self._catalogue.making([*others, *ids], pairs)
            return list(dict.fromkeys(found))

        return Explanation(
            diagnoses=[self._diagnosis(*one) for one in named.items()],
            by_check=[self._diagnosis(*one) for one in own.items() if one[0] not in named],
            programs=programs,
            besides=self._besides,
            by_dropout=self._of_dropout(own),
            where=where,
            unmarked=[n for n, one in self._catalogue.mistakes.items() if one.severity is None],
        )

    def _besides(
        self,
        program: Program,
        results: Sequence[CheckResult],
        trace: Trace,
        alone: Set[str],
    ) -> list[Diagnosis]:
        """Return the mistakes that explain what fails where a program counts as right.

        The message of a check that came to be asked only there may tell of what follows from the
        program's mistakes; so only the checks `alone` tell of something else.
        """
        catalogue = self._catalogue.beside(program)
        case = _Case(catalogue, results, trace, may_miss=False)
        with bounded_memory():
            named = case.by_single_mistakes(catalogue.programs)
        case.close()
        if not named:
            told = case.by_their_check()
            named = {one.id: checks for one, checks in told if {*checks} <= alone}
        return [self._diagnosis(*one) for one in named.items()]

    def _of_dropout(self, told: Collection[str]) -> Diagnosis | None:
        """Return the mistake, if there is one; one that its check tells must be among the told."""
        every = [one for one in self._catalogue.mistakes.values() if one.by_dropout]
        known = [one.id for one in every if one.says is None or one.id in told]
        return self._diagnosis(known[0], []) if len(known) == 1 else None

    def _diagnosis(self, name: str, checks: Sequence[str]) -> Diagnosis:
        [mistake] = self._catalogue.named(name).mistakes
        return Diagnosis(
            id=name,
            title=mistake.title,
            explanation=mistake.explanation.strip(),
            hint=mistake.hint.strip(),
            checks=list(dict.fromkeys(checks)),
            shown_by=mistake.killed_by,
            severity=mistake.severity or Severity.SLIP,
        )


def _quoted(names: Collection[str]) -> str:
    return " or ".join(f"`{name}`" for name in sorted(names))


class _Case:
    """One candidate's failures, and what explains them so far."""

    def __init__(
        self,
        catalogue: Catalogue,
        results: Sequence[CheckResult],
        trace: Trace,
        *,
        may_miss: bool = True,
    ) -> None:
        """Take what failed.

        Args:
            catalogue: The mistakes, and the program that is right.
            results: The results of the checks.
            trace: The steps of each check.
            may_miss: Whether a mistake may be named that does not explain each failure in which it
                shows, since another mistake may show there too.
        """
        self._may_miss = may_miss
        self._catalogue = catalogue
        self._trace = trace
        self._truth = Replay(catalogue.right)
        self._replays: dict[int, Replay] = {}
        bad = [c for c in results if c.outcome in (Outcome.FAILED, Outcome.ERROR)]
        counting = [c for c in bad if not c.advisory]
        found = [(check, self._wrong_steps(check)) for check in counting]
        self._failures = [_Failure(c, s) for c, s in found if s is not None][:MAX_CHECKS]
        self._valueless = [check for check, steps in found if steps is None]
        passed = {c.id: trace.of(c.id) for c in results if c.outcome is Outcome.PASSED}
        self._passed = {check: steps for check, steps in passed.items() if steps}
        self._right = list(self._passed.values())
        self._open = list(self._failures)
        self._suspects: dict[str, list[_Failure]] = {}
        """Programs that explain some failures and not enough, with these failures."""
        self.alone: list[str] = []
        """Names of the programs that explain something."""
        self.variants: dict[str, list[str]] = {}
        """By such a name, programs of the same mistake that explain no less."""
        self.together: list[Program] = []
        """Programs of two mistakes that explain something."""

    def _wrong_steps(self, check: CheckResult) -> tuple[Step, ...] | None:
        """Return a check's steps, or None if there are none or the reference answers them alike."""
        steps = tuple(self._trace.of(check.id))
        return None if not steps or self._truth.agrees(steps) else steps

    @property
    def is_of_corners(self) -> bool:
        """Whether an answer is right but for single calls, which say too little of two mistakes,
        and of one that nobody has listed."""
        return bool(self._failures) and all(f.check.only_if_right for f in self._failures)

    @property
    def is_open(self) -> bool:
        """Whether there are failures that nothing explains so far."""
        return bool(self._open)

    @property
    def is_mostly_open(self) -> bool:
        """Whether an answer is wrong nearly everywhere, and some of it is unexplained."""
        return bool(self._open) and len(self._failures) >= len(self._right)

    def unless_marginal(self, named: dict[str, list[str]]) -> dict[str, list[str]]:
        """Return `named`; or nothing, if nearly all failures stay open: then another mistake may
        look like these in few calls."""
        explained = len(self._failures) - len(self._open)
        if MARGINAL * explained > len(self._failures):
            return named
        self._open, self.alone, self.together, self.variants = [*self._failures], [], [], {}
        return {}

    def ask_more(self, also_right: Callable[[Step], list[Step]]) -> None:
        """Look for calls that are right, besides the checks that passed."""
        steps = also_right(self._open[0].steps[-1])
        self._right += [[step] for step in steps]

    def by_refusals(self, entries: Sequence[Entry]) -> dict[str, list[str]]:
        """Return mistakes, with their checks, for calls that raise alike and share a feature."""
        named: dict[str, list[str]] = {}
        for entry in entries:
            raised = [f for f in self._open if _raised_by(f, entry)]
            kinds = {_raised_by(failure, entry) for failure in raised}
            if len(kinds) != 1 or entry.kind not in ("function", "module"):
                continue
            feature = telling(entry, [f.steps[-1] for f in raised], self._right_steps())
            if feature is None:
                continue
            mistake = refusing(entry, feature, kinds.pop(), self._catalogue.source)
            if mistake is not None:
                self._catalogue.add(mistake)
                self.alone.append(mistake.id)
                named[mistake.id] = [failure.check.id for failure in raised]
                self._open = [failure for failure in self._open if failure not in raised]
        return named

    def where(self, entries: Sequence[Entry]) -> str:
        """Return in words what the wrong calls that nothing explains have in common; or empty."""
        unfit = [f.steps[-1].failure for f in self._open]
        if unfit and all(isinstance(one, DoesNotFit) and one.missing for one in unfit):
            names = {name for one in unfit if isinstance(one, DoesNotFit) for name in one.missing}
            return f"{_quoted(names)} is passed, which no parameter takes"
        for entry in entries:
            wrong = [f.steps[-1] for f in self._open if f.steps[-1].target.entry.name == entry.name]
            feature = telling(entry, wrong, self._right_steps())
            if feature is not None and len(wrong) > 1:
                return feature.words
        return ""

    def _right_steps(self) -> list[Step]:
        right = [step for steps in self._right for step in steps]
        return right + [step for failure in self._failures for step in failure.steps[:-1]]

    def by_single_mistakes(
        self, programs: Mapping[str, Program], *, exactly: bool = False
    ) -> dict[str, list[str]]:
        """Return mistakes and the checks that each explains; other checks stay open.

        Args:
            programs: The programs to try, by name.
            exactly: Take a mistake only if it explains the first failure and at least half of all,
                and no right call contradicts it.
        """
        named: dict[str, list[str]] = {}
        left = self._open
        self._open = []
        while left:
            first, *rest = left
            explained = {
                name: [first, *(f for f in rest if self._explains(program, f))]
                for name, program in programs.items()
                if self._explains(program, first)
            }
            plausible = {
                name: failures
                for name, failures in explained.items()
                if self._is_plausible(name, failures)
                and not (exactly and self._is_doubtful(name, failures))
            }
            if not plausible:
                self._open.append(first)
                for name, failures in explained.items():
                    self._suspects.setdefault(name, []).extend(failures)
                if len(self._open) == (1 if exactly else MAX_UNEXPLAINED):
                    self._open += rest
                    break
                left = rest
                continue
            most = max(len(failures) for failures in plausible.values())
            equals = [name for name, failures in plausible.items() if len(failures) == most]
            best = equals[0] if len(equals) == 1 else min(equals, key=self._doubts(left))
            mistake = self._catalogue.named(best).mistakes[0]
            self.alone.append(best)
            same = [one for one in equals if self._catalogue.named(one).mistakes[0] is mistake]
            self.variants[best] = [one for one in same if one != best]
            checks = [failure.check.id for failure in plausible[best]]
            named.setdefault(mistake.id, []).extend(checks)
            left = [failure for failure in left if failure not in plausible[best]]
        return named

    def _explains(self, program: Program, failure: _Failure) -> bool:
        return self._replay(program).agrees(failure.steps)

    def _is_plausible(self, name: str, explained: Sequence[_Failure]) -> bool:
        """Return whether a match may be more than a coincidence on one input.

        Where the mistake shows, the candidate should mostly answer like it; where the candidate was
        right, the mistake should not show. If it shows in NaN alone, it should explain most of what
        became NaN, which may have many causes.
        """
        others = [failure for failure in self._failures if failure not in explained]
        replay = self._replay(self._catalogue.named(name))
        missed = sum(replay.changes(failure.steps, self._truth) for failure in others)
        if all(map(self._became_nan, explained)):
            missed = max(missed, sum(map(self._became_nan, others)))
        most = len(explained) if self._may_miss else 0
        return missed <= most and not self._contradictions(self._catalogue.named(name))

    def _became_nan(self, failure: _Failure) -> bool:
        """Return whether a result has NaN where a right one has a number."""
        return self._truth.has_number_for_nan(failure.steps[-1])

    def _is_doubtful(self, name: str, explained: Sequence[_Failure]) -> bool:
        """Return whether something speaks against a mistake that single calls show, or that nobody
        has listed."""
        is_told = any(
            failure.steps[-1].failure is None and _tells(failure) for failure in explained
        )
        is_rare = 2 * len(explained) < len(self._failures)
        replay = self._replay(self._catalogue.named(name))
        shows = any(self._shows(replay, failure) for failure in explained)
        return is_rare or not is_told or not shows or self._all_contradictions(name)[0] > 0

    def _shows(self, replay: Replay, failure: _Failure) -> bool:
        """Return whether a mistake's own numbers are nearer to the candidate's than right ones."""
        step = failure.steps[-1]
        if step.options.get("inputs_after"):
            return True
        if step.cotangents is not None:
            return replay.changes(failure.steps, self._truth)
        return replay.nearness(step) > self._truth.nearness(step)

    def _contradictions(self, program: Program) -> int:
        """Return how many of the checks that passed a program fails: they speak against it.

        Of a check only the last call counts, and no gradients; of those that are there for its
        mistakes, each call and all.
        """
        some = [_telling(steps)[-1] for steps in self._right if steps[-1].cotangents is None]
        for mistake in program.mistakes:
            some += _telling(self._passed.get(mistake.killed_by, []))
        some = [steps for steps in some if steps and _is_an_answer(steps[-1])]
        replay = self._replay(program)
        return sum(self._truth.agrees(steps) and not replay.agrees(steps) for steps in some)

    def _all_contradictions(self, name: str) -> tuple[int, int]:
        """Return how many of all passed checks the mistake answers unlike the candidate.

        First of those whose every call is right, then of those, too, that tolerate more.
        """
        replay = self._replay(self._catalogue.named(name))
        told = [_telling(steps)[-1] for steps in self._right]
        unlike = [steps for steps in told if not replay.agrees(steps)]
        return sum(map(self._truth.agrees, unlike)), len(unlike)

    def _doubts(self, failures: Sequence[_Failure]) -> Callable[[str], tuple[int, ...]]:
        """Return a sort key of mistakes that explain equally much: how much speaks against each."""

        def of(name: str) -> tuple[int, ...]:
            replay = self._replay(self._catalogue.named(name))
            unlike = sum(not replay.agrees(f.steps, plainly=True) for f in failures)
            return unlike, *self._all_contradictions(name)

        return of

    def by_pairs(self, named: Mapping[str, list[str]]) -> dict[str, list[str]]:
        """Return `named`, and pairs of mistakes that together explain failures that are open."""
        both = {name: list(checks) for name, checks in named.items()}
        suspects = sorted(self._suspects, key=lambda name: -len(self._suspects[name]))
        singly = [failure for found in self._suspects.values() for failure in found]
        left = MAX_PAIRS
        # what one mistake explains alone shows no pair, and would use up what may be tried
        for failure in sorted(self._open, key=lambda failure: failure in singly):
            tells = _tells(failure)
            if failure not in self._open or not (tells or both):
                continue
            likely = {*both, *suspects}
            active = self._active(failure, likely)
            known = sum(name in likely for name in active)
            best: Program | None = None
            most, count = (0, 0), 0
            for program in self._catalogue.pairs(active, known):
                left -= 1
                if left < 0 or (tells and most == (len(self._open), len(self._failures))):
                    break
                if not tells and both.keys().isdisjoint(one.id for one in program.mistakes):
                    continue  # what has no finite number says too little of two new mistakes
                if self._explains(program, failure) and self._takes_both(program, failure):
                    count += 1
                    # what one of the two explains alone must look the same with both
                    every = [one for one in self._failures if self._explains(program, one)]
                    explains = (sum(one in self._open for one in every), len(every))
                    if explains > most and not self._contradictions(program):
                        best, most = program, explains
            if best is not None and (tells or count == 1):
                self._accept(best, both)
            if left < 0:
                break
        spare = {name for name, checks in both.items() if self._is_spare(name, checks)}
        self.alone = [n for n in self.alone if self._catalogue.named(n).mistakes[0].id not in spare]
        return {name: checks for name, checks in both.items() if name not in spare}

    def _is_spare(self, name: str, checks: Collection[str]) -> bool:
        """Return whether pairs of others explain all that a mistake was named for, too."""
        if any(mistake.id == name for pair in self.together for mistake in pair.mistakes):
            return False
        own = [failure for failure in self._failures if failure.check.id in checks]
        return all(any(self._explains(pair, one) for pair in self.together) for one in own)

    def _takes_both(self, pair: Program, failure: _Failure) -> bool:
        """Return whether neither mistake alone explains it: else the other would be invented."""
        alone = (self._catalogue.programs[mistake.id] for mistake in pair.mistakes)
        return not any(self._explains(program, failure) for program in alone)

    def _active(self, failure: _Failure, named: Collection[str]) -> list[str]:
        """Return the mistakes that change an answer here: those already named, then the nearest.

        If one of two mistakes changes nothing, the other alone gives the candidate's numbers.
        """
        matter = [
            name
            for name, program in self._catalogue.programs.items()
            if name in self._catalogue.mistakes  # without their variants
            and (name in named or self._replay(program).changes(failure.steps, self._truth))
        ]
        last, programs = failure.steps[-1], self._catalogue.programs
        near = {name: self._replay(programs[name]).nearness(last) for name in matter}
        return sorted(matter, key=lambda name: (name not in named, -near[name]))

    def _accept(self, pair: Program, both: dict[str, list[str]]) -> None:
        """Note what a pair explains, under each mistake of it."""
        self.together.append(pair)
        explained = [failure for failure in self._open if self._explains(pair, failure)]
        for mistake in pair.mistakes:
            both.setdefault(mistake.id, []).extend(failure.check.id for failure in explained)
        self._open = [failure for failure in self._open if failure not in explained]

    def by_their_check(self) -> list[tuple[Mistake, list[str]]]:
        """Return mistakes with right values that a failed check notices, if it notices only one."""
        named = []
        for check in self._valueless:
            mistakes = self._catalogue.by_check(check.id, check.message)
            if len(mistakes) == 1:
                named.append((mistakes[0], [check.id]))
        return named

    def close(self) -> None:
        """Release the layers and objects of all programs."""
        for replay in (self._truth, *self._replays.values()):
            replay.release()

    def _replay(self, program: Program) -> Replay:
        if id(program) not in self._replays:
            self._replays[id(program)] = Replay(program, self._truth)
        return self._replays[id(program)]
