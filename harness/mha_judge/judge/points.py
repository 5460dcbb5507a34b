"""Points, score and verdict, from the outcomes of checks and the mistakes behind them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from mha_judge.outcomes import Category, Outcome, Severity, Verdict
from mha_judge.report.models import CheckResult, Diagnosis

PRICES = {
    Severity.CONVENTION: 5.0,
    Severity.SLIP: 15.0,
    Severity.MISCONCEPTION: 25.0,
    Severity.FUNDAMENTAL: 40.0,
    Severity.WORTHLESS: 90.0,
}
"""Points that a mistake costs, once, however many checks it fails."""
_OF_RESULTS = (Category.VALUES, Category.MASKING, Category.NUMERICS, Category.GRADIENTS)
"""Categories that say whether results are right. Zeros of the right shape pass checks of the
others."""


def verdict(checks: Sequence[CheckResult]) -> Verdict:
    """Accepted if every check that counts passed."""
    counting = [check for check in checks if not check.advisory]
    passed = all(check.outcome is Outcome.PASSED for check in counting)
    return Verdict.ACCEPTED if passed else Verdict.REJECTED


def strict_score(checks: Sequence[CheckResult]) -> float:
    """Return the points of the checks that passed."""
    if checks and all(c.points == c.max_points for c in checks):
        return 100.0
    return min(round(sum(check.points for check in checks), 1), 99.9)


def score(checks: Sequence[CheckResult], diagnoses: Sequence[Diagnosis], by_key: bool) -> float:
    """Return the score with errors carried forward.

    Checks that pass but for a mistake count, and the mistake costs its price; the score is never
    lower than without both. Points count in full once half of the points for results are there, and
    in proportion below: checks that any answer passes are worth nothing alone. Claims that only a
    right answer is asked count if they were asked.

    Args:
        checks: The results, with points and granted mistakes.
        diagnoses: The mistakes, with what each costs.
        by_key: Whether the problem asks questions, which are marked one by one.
    """
    strict = strict_score(checks)
    if strict == 100.0:
        return strict
    if by_key:
        return min(round(strict + sum(c.max_points for c in checks if c.granted), 1), 99.9)
    asked = _asked(checks)
    breaks = [(one, _broken(one, checks)) for one in diagnoses]
    broken = [check for _, rules in breaks for check in rules]
    right = [c for c in asked if c.outcome is Outcome.PASSED or c in broken]
    without = _share(asked, right)
    granted = _share(asked, [*right, *(c for c in asked if c.granted and c not in right)])
    made = {name for check in checks for name in check.granted}
    paid = [one for one, rules in breaks if one.id in made and not rules]
    fined = [one for one in diagnoses if one not in paid]
    worthless = any(diagnosis.severity is Severity.WORTHLESS for diagnosis in diagnoses)
    most = 100 - PRICES[Severity.WORTHLESS] if worthless else 99.9
    best = max(without, granted - sum(one.cost for one in paid))
    return min(round(max(0.0, best - sum(one.cost for one in fined)), 1), most)


def priced(diagnosis: Diagnosis, checks: Sequence[CheckResult]) -> Diagnosis:
    """Return a diagnosis with what it costs, given these checks.

    A broken rule costs its price, and the points of its check are not lost besides.
    """
    cost, asked = PRICES[diagnosis.severity], _asked(checks)
    if not _broken(diagnosis, asked):
        scale = 100 / (sum(check.max_points for check in asked) or 1.0)
        granted = [check for check in asked if diagnosis.id in check.granted]
        cost = min(cost, scale * sum(check.max_points for check in granted))
    return diagnosis.model_copy(update={"cost": round(cost, 1)})


def _broken(diagnosis: Diagnosis, checks: Iterable[CheckResult]) -> list[CheckResult]:
    """Return the checks of rules that a mistake breaks; one that is granted is not broken."""
    own = [check for check in checks if check.id in diagnosis.checks and not check.granted]
    return [check for check in own if check.category is Category.POLICY]


def scaled(results: Sequence[CheckResult]) -> list[CheckResult]:
    """Return the checks with points scaled so that those of a problem add up to 100."""
    total = sum(result.max_points for result in results) or 1.0
    return [
        result.model_copy(
            update={
                "points": round(100 * result.points / total, 4),
                "max_points": round(100 * result.max_points / total, 4),
            }
        )
        for result in results
    ]


def _asked(checks: Iterable[CheckResult]) -> list[CheckResult]:
    """Return the checks that count: claims that only a right answer is asked, only if asked."""
    return [c for c in checks if not (c.only_if_right and c.outcome is Outcome.NOT_ASSESSED)]


def _share(asked: Sequence[CheckResult], right: Collection[CheckResult]) -> float:
    """Return the points of the right checks, out of 100."""
    results, others = _worth(right)
    all_results, all_others = _worth(asked)
    counting = min(1.0, 2 * results / all_results) if all_results else 1.0
    return 100 * counting * (results + others) / (all_results + all_others or 1.0)


def _worth(checks: Collection[CheckResult]) -> tuple[float, float]:
    """Return the points of checks about results, and of the others."""
    of_results = sum(c.max_points for c in checks if c.category in _OF_RESULTS)
    return of_results, sum(c.max_points for c in checks) - of_results
