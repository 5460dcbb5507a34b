"""What clients send, and what they are told."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Discriminator, Field, Tag, model_validator

from mha_judge.judge import MAX_SEED

_MOST_KEYS = 32
MAX_ANSWERS = 200
"""Of one request."""


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", use_attribute_docstrings=True)

    @model_validator(mode="before")
    @classmethod
    def _has_few_keys(cls, data: Any) -> Any:
        """Refuse what has thousands of keys, before there is an error for each."""
        if isinstance(data, dict) and len(data) > _MOST_KEYS:
            raise ValueError("there are too many fields")
        return data


class Ask(_Model):
    """One answer to grade."""

    source: str
    """The text of the file, at most 256 KiB as UTF-8."""
    problem: Annotated[str, Field(max_length=60)] | None = None
    """Its id; else the source must have a `# problem: ID` line."""
    seed: Annotated[int, Field(ge=0, lt=MAX_SEED)] | None = None
    """Repeats an earlier report; fresh if there is none."""
    verdict_only: bool = False
    """Stop at the first check that fails, and explain nothing."""


class Batch(_Model):
    """Several answers; each gets a grade of its own."""

    answers: Annotated[list[Ask], Field(min_length=1, max_length=MAX_ANSWERS)]


def _asked_for(body: Any) -> str:
    """Return which of the two a body is meant to be, so that it hears of the faults of this one."""
    is_batch = isinstance(body, Batch) or (isinstance(body, dict) and "answers" in body)
    return "Batch" if is_batch else "Ask"


AskOrBatch = Annotated[
    Annotated[Ask, Tag("Ask")] | Annotated[Batch, Tag("Batch")], Discriminator(_asked_for)
]
"""The body of a request for grades."""


class State(StrEnum):
    """How far a grade is."""

    WAITING = "waiting"
    RUNNING = "running"
    DONE = "done"
    REFUSED = "refused"
    """It was never accepted: an answer of a batch that cannot be read, or to no problem."""


class Reason(StrEnum):
    """Why a grade is done. Only `verdict` says anything of the answer."""

    VERDICT = "verdict"
    QUEUE_TIMEOUT = "queue_timeout"
    CANCELLED = "cancelled"
    JUDGE_FAILED = "judge_failed"


class Grade(_Model):
    """One answer's way from the queue to its report."""

    id: str
    state: State
    position: int | None = None
    """Of one that waits: 1 is next."""
    reason: Reason | None = None
    message: str = ""
    """Why there is no verdict."""
    report: dict[str, Any] | None = None
    """As much of it as the token may see."""


class Grades(_Model):
    """The grades of a batch, in its order."""

    grades: list[Grade]


class Statement(_Model):
    """What a problem asks, as Markdown."""

    id: str
    lang: str
    markdown: str
