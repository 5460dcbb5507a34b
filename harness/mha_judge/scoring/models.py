"""What is known of many candidates' answers."""

from __future__ import annotations

from enum import StrEnum
from typing import Literal

from pydantic import BaseModel, ConfigDict

from mha_judge.report.models import Report


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", use_attribute_docstrings=True)


class Fault(_Model):
    """Why the judge reached no verdict; the submission is not to blame."""

    kind: str
    message: str
    exit_code: int


class Result(_Model):
    """One answer, graded; or the judge's failure to grade it."""

    kind: Literal["result"] = "result"
    candidate: str
    problem: str
    path: str
    key: str
    """Changes with all that the verdict depends on, but for the seed."""
    report: Report | None = None
    fault: Fault | None = None


class Standing(StrEnum):
    """What became of a candidate's answer to one problem."""

    ACCEPTED = "accepted"
    REJECTED = "rejected"
    ERROR = "error"
    TIMEOUT = "timeout"
    CRASHED = "crashed"
    MISSING = "missing"
    """There is no answer; it counts 0."""
    NOT_GRADED = "not_graded"
    """The judge failed; the problem counts neither for nor against the candidate."""


class Cell(_Model):
    """A candidate's answer to one problem, in the table."""

    standing: Standing
    score: float | None
    """0 to 100, with all that passes but for known mistakes; null where the judge failed."""
    strict: float | None = None
    """0 to 100, of what passes as it stands."""
    path: str | None = None
    sha256: str | None = None
    diagnoses: list[str] = []
    """The titles of the known mistakes behind what failed."""
    load_problem: str = ""
    """Why the file did not load."""


class Row(_Model):
    """One candidate."""

    rank: int | None
    """Null if nothing of the candidate's was graded."""
    candidate: str
    total: float
    """The mean score of the problems, by weight."""
    provisional: bool = False
    """The judge failed on an answer, so the total leaves a problem out."""
    problems: dict[str, Cell]
    categories: dict[str, float]
    """Percent of the points of each category of check that pass as they stand, over all problems,
    by weight."""


class Failure(_Model):
    """An answer on which the judge failed, twice."""

    candidate: str
    problem: str
    path: str
    fault: Fault


class LeftOut(_Model):
    """A file that is nobody's answer."""

    candidate: str | None
    path: str
    reason: str


class Likeness(StrEnum):
    """How much alike two answers are."""

    IDENTICAL = "identical"
    """The same but for comments, docstrings and layout."""
    RENAMED = "renamed"
    """The same but for names as well."""
    NEAR = "near"
    """Most of what one says is said by the other."""


class Similar(_Model):
    """Answers to look at side by side: a hint, never a verdict."""

    problem: str
    candidates: list[str]
    likeness: Likeness
    share: float
    """Of the larger answer's fingerprints, how many both have."""


class Scoreboard(_Model):
    """Everything that the ranking says; nothing in it depends on how often a run was resumed."""

    schema_version: Literal[1] = 1
    version: str
    """Of the judge."""
    bank: str
    """Tells the problems' graders and references from those of another day."""
    seed: int
    weights: dict[str, float]
    """By problem, in the order of the columns."""
    titles: dict[str, str]
    rows: list[Row] = []
    failures: list[Failure] = []
    similar: list[Similar] = []
    left_out: list[LeftOut] = []
