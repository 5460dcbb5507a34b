"""How checks and submissions end. The grading side decides it; the report shows it."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, FiniteFloat


class Outcome(StrEnum):
    """How one check ended."""

    PASSED = "passed"
    FAILED = "failed"
    ERROR = "error"
    """The submission raised an exception."""
    TIMEOUT = "timeout"
    CRASHED = "crashed"
    NOT_ASSESSED = "not_assessed"

    @property
    def is_bad(self) -> bool:
        """Whether the submission was asked and did not do what the check claims."""
        return self in (Outcome.FAILED, Outcome.ERROR, Outcome.TIMEOUT, Outcome.CRASHED)


class Verdict(StrEnum):
    """How the whole submission ended."""

    ACCEPTED = "accepted"
    """Every check passed."""
    REJECTED = "rejected"
    ERROR = "error"
    """The file did not load, or lacks its entry point."""
    TIMEOUT = "timeout"
    """Loading the file did not end."""
    CRASHED = "crashed"
    """The process ended while it loaded the file."""

    @property
    def exit_code(self) -> int:
        return 0 if self is Verdict.ACCEPTED else 1


class Category(StrEnum):
    """What a check is about."""

    SHAPE = "shape"
    VALUES = "values"
    MASKING = "masking"
    NUMERICS = "numerics"
    GRADIENTS = "gradients"
    ROBUSTNESS = "robustness"
    POLICY = "policy"
    COST = "cost"
    GPU = "gpu"


class Severity(StrEnum):
    """How far from a right answer a mistake is, for who marks it."""

    CONVENTION = "convention"
    """Right under another usual convention."""
    SLIP = "slip"
    """A detail is missed by somebody who knows how it works."""
    MISCONCEPTION = "misconception"
    """A wrong idea of the mechanism, which changes the values throughout."""
    FUNDAMENTAL = "fundamental"
    """A part of the mechanism is not there, or is something else."""
    WORTHLESS = "worthless"
    """What comes back has nothing to do with what was asked."""


SAMPLE_SIZE = 16
_Row = Annotated[list[FiniteFloat | None], Field(max_length=SAMPLE_SIZE)]
_Grid = Annotated[list[_Row], Field(max_length=SAMPLE_SIZE)]


class Sample(BaseModel):
    """Rows and columns of a tensor around its first wrong element; null is NaN or infinite."""

    model_config = ConfigDict(extra="forbid", use_attribute_docstrings=True)

    label: str
    place: str
    """Which part of the tensor it is, written as an index."""
    expected: _Grid
    actual: _Grid
