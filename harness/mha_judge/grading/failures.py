"""How a check can end without passing; these exceptions become values before they are shown."""

from __future__ import annotations

from typing import Any, ClassVar

from mha_judge.outcomes import Outcome, Sample


class CheckFailure(AssertionError):
    """A claim that does not hold for this submission."""

    outcome: ClassVar[Outcome] = Outcome.FAILED

    def __init__(
        self,
        message: str,
        detail: str = "",
        margin: float | None = None,
        sample: Sample | None = None,
    ) -> None:
        """Take a sentence, details for those who may see inputs, and the size of the error.

        Args:
            message: For everyone who may see messages.
            detail: Inputs, elements and places.
            margin: The error as a multiple of what is allowed; None if it is no matter of degree.
            sample: The elements around the first difference, where values differ.
        """
        super().__init__(message)
        self.message = message
        self.detail = detail
        self.margin = margin
        self.sample = sample
        self.step: Any = None
        """The `Step` that was answered wrong, where the judge asks outside of checks."""


class Follows(CheckFailure):
    """A wrong answer that is right if an earlier one is, which is wrong too."""

    def __init__(self, message: str, detail: str, check: str) -> None:
        """Take also the id of the check of the earlier question."""
        super().__init__(f"{message}; it follows from another answer, which is wrong", detail)
        self.check = check


class WritesToInput(CheckFailure):
    """A call that writes to an input, if only for a while."""


class LeftOpen(CheckFailure):
    """The results of a granted mistake take more memory than the judge has for them."""

    outcome = Outcome.NOT_ASSESSED
    MESSAGE = "the mistake that is granted takes more memory here than the judge has for it"

    def __init__(self) -> None:
        super().__init__(self.MESSAGE)


class Raised(CheckFailure):
    """The submission raised an exception where it should have answered."""

    outcome = Outcome.ERROR

    def __init__(self, message: str, detail: str = "", kind: str = "") -> None:
        """Take also `kind`, the exception's type by name."""
        super().__init__(message, detail)
        self.kind = kind


class TimedOut(CheckFailure):
    """The submission did not answer in time."""

    outcome = Outcome.TIMEOUT


class OutOfTime(TimedOut):
    """All the time that a submission has is used up: the question at hand is not to blame."""


class Crashed(CheckFailure):
    """The submission's process ended without an answer."""

    outcome = Outcome.CRASHED


class NotAssessed(CheckFailure):
    """Something that this check depends on is missing."""

    outcome = Outcome.NOT_ASSESSED
