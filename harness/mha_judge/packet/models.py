"""What a packet holds; page and JSON are made of the same."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from mha_judge.outcomes import Category, Outcome, Severity, Verdict
from mha_judge.report.models import FailingCall
from mha_judge.sanitising import visible
from mha_judge.version import __version__

SCALE = 6
"""Marks go from 1 to this."""


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", use_attribute_docstrings=True)


class Made(_Model):
    """A known mistake that the answer makes."""

    id: str
    title: str
    severity: Severity
    cost: float
    """What it takes from the score."""
    explanation: str
    hint: str
    checks: list[str]
    """Titles of the checks that fail because of it."""


class Failed(_Model):
    """A check that failed for a reason without a name."""

    id: str
    title: str
    category: Category
    outcome: Outcome
    message: str
    detail: str


class Question(_Model):
    """What to ask, and what a good answer contains."""

    question: str
    good_answer: list[str]
    """One point each."""
    mistake: str = ""
    """Id of the known mistake that it is about, if it is about one."""
    about: str = ""
    """The title of that mistake, where the question does not tell it: for the interviewer alone."""


class Questions(_Model):
    """Follow-up questions for one answer."""

    mistakes: list[Question] = []
    """About each mistake that was made."""
    near_misses: list[Question] = []
    """About mistakes that this answer avoided."""
    general: list[Question] = []
    """The problem's own, for everyone who solved it."""


class Sheet(_Model):
    """One answer, what the judge found, and what to ask."""

    problem: str
    title: str
    path: str
    sha256: str
    """Of the file; empty where it could not be read."""
    verdict: Verdict | None
    """None where the judge failed."""
    score: float | None
    strict_score: float | None
    seed: int | None
    sandbox: str
    """The tier that was in force."""
    bank: str = ""
    """Tells the problem's grader and reference from those of another day; empty where it is not
    known with which it was graded."""
    not_graded: str = ""
    """Why the judge reached no verdict; the answer is not to blame."""
    sentence: str = ""
    """What the mistakes that are named come to."""
    load_problem: str = ""
    mistakes: list[Made] = []
    failures: list[Failed] = []
    """What fails with the mistakes granted, too."""
    failing_call: FailingCall | None = None
    wrong_where: str = ""
    """What the wrong calls that no mistake explains have in common."""
    findings: list[str] = []
    """Rules of the problem that the answer breaks."""
    notes: list[str] = []
    """How names and weights were bound, where that was not plain."""
    source: list[str] = []
    """Its lines, with control characters made visible."""
    no_source: str = ""
    """Why the source is not at hand."""
    questions: Questions = Questions()


class Evidence(_Model):
    """What the judge measured on one answer."""

    problem: str
    """Its title."""
    text: str


Mark = Annotated[int, Field(ge=1, le=SCALE, strict=True)]
Recommendation = Literal["strong no hire", "no hire", "hire", "strong hire"]


_Typed = Annotated[str, AfterValidator(visible)]


class Notes(_Model):
    """What an interviewer typed into a packet's page, as its button saves it."""

    candidate: str
    recommendation: Recommendation | None = None
    summary: _Typed = ""
    marks: dict[str, Mark] = {}
    """By the name of a dimension."""
    notes: dict[str, _Typed] = {}
    """By the name of a dimension, or by a problem and a question: `sdpa: Why is …?`"""


class Dimension(_Model):
    """One row of the scoring sheet."""

    name: str
    looks_at: str
    measured: bool
    """Whether the judge measures anything here; the rest is left to the interviewer."""
    evidence: list[Evidence] = []


class Packet(_Model):
    """All of one candidate."""

    schema_version: Literal[1] = 1
    version: str = __version__
    """Of the judge."""
    candidate: str
    language: str
    """Of the general questions."""
    made: str
    """The day, as in 2026-11-26."""
    scale: int = SCALE
    answers: list[Sheet]
    dimensions: list[Dimension]
    interviewer: Notes
    """Marks, notes and a recommendation: the judge gives none."""
    bundle: str = ""
    """The file beside the page that `regrade` takes; empty if no answer could go into it."""
