"""The sign that stands before a check, wherever people read it."""

from mha_judge.report.models import Outcome

MARKS: dict[Outcome, str] = {
    Outcome.PASSED: "✓",
    Outcome.FAILED: "✗",
    Outcome.ERROR: "!",
    Outcome.TIMEOUT: "⧖",
    Outcome.CRASHED: "☠",
    Outcome.NOT_ASSESSED: "·",
    Outcome.SKIPPED: "–",
}
