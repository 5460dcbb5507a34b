"""The sign that stands before a check, wherever people read it."""

from mha_judge.outcomes import Outcome

MARKS: dict[Outcome, str] = {
    Outcome.PASSED: "✓",
    Outcome.FAILED: "✗",
    Outcome.ERROR: "!",
    Outcome.TIMEOUT: "⧖",
    Outcome.CRASHED: "☠",
    Outcome.NOT_ASSESSED: "·",
}
