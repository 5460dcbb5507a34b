"""The report, schema version 2."""

from __future__ import annotations

from enum import StrEnum
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

from mha_judge.outcomes import Category, Outcome, Sample, Severity, Verdict
from mha_judge.report.words import WORDS


class Reveal(StrEnum):
    """How much a reader is told, from least to most."""

    SCORE = "score"
    CHECKS = "checks"
    HINTS = "hints"
    FULL = "full"


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", use_attribute_docstrings=True)


class CheckResult(_Model):
    """One check of the grader."""

    id: str
    """The name of its function in the grader, without `test_`."""
    title: str
    """The claim that it tests."""
    category: Category
    outcome: Outcome
    """`error`: a call raised; `not_assessed`: it builds on one that failed, or lacks a GPU."""
    points: float
    """What it earned."""
    max_points: float
    message: str = ""
    """What was expected and what came; empty where it passed."""
    detail: str = ""
    """Inputs, elements and places: for readers who may see everything."""
    margin: float | None = None
    """The error as a multiple of what is allowed, where the failure is a matter of degree."""
    sample: Sample | None = None
    """What was expected and what came, for readers who may see everything."""
    diagnosis: str | None = None
    """The titles of the known mistakes that explain the failure."""
    granted: list[str] = []
    """Ids of the known mistakes but for which it passes: its points count, at their price. Of a
    question: the check whose answer, which is wrong, it follows from."""
    stopped: bool = False
    """Granted because a call raises for who makes these mistakes: what else it asks is not known to
    be right."""
    only_if_right: bool = False
    """Asked only of an answer that is right otherwise; it costs nothing where it was not asked."""
    advisory: bool = False
    """Shown, but worth no points and never a reason to reject."""
    explanation: str = ""
    """Of a question: the right answer, and why; for readers who may see hints."""

    def ungranted(self) -> CheckResult:
        """Return the check as it is if no mistake is granted."""
        return self.model_copy(update={"granted": [], "stopped": False})


class Diagnosis(_Model):
    """A misconception that explains one or more failures."""

    id: str
    """Names the mistake in the bank."""
    title: str
    """The mistake, in one line."""
    explanation: str
    """Why it is one, and what it does."""
    hint: str = ""
    """What to look at; for readers who may see hints."""
    checks: list[str] = []
    """Ids of the checks whose failure it explains."""
    shown_by: str = ""
    """Id of the check that is there to notice it."""
    severity: Severity = Severity.SLIP
    cost: float = 0.0
    """What it takes from the score: the price of its severity, or what its checks are worth if that
    is less; 0 where it is not granted."""


class PolicyFinding(_Model):
    """A place in the source, or an operation seen, that the problem rules out."""

    rule: str
    """Its name: `fused-attention`, `python-loops`, `autograd`, `library-norm`, `library-loss` or
    `torch`."""
    line: int | None
    message: str
    """What was found."""


class SubmissionInfo(_Model):
    path: str
    """As it was given."""
    sha256: str
    """Of its bytes."""


NOTHING_RUN = "nothing was run"
"""The tier where a file was not run at all."""


class SandboxInfo(_Model):
    backend: str
    """`container`, `jail` or `none`."""
    tier: str
    """The layers in force; `nothing was run` of a file that is no Python."""
    details: dict[str, Any] = {}
    """What each layer told of itself."""


class Output(_Model):
    """What the submission printed."""

    text: str = ""
    truncated: bool = False
    """Whether it printed more than is kept."""


class LoadProblem(_Model):
    """Why a file did not load, or what it lacks."""

    message: str
    line: int | None = None
    column: int | None = None
    source: str | None = None
    """The line of the file."""


class FailingCall(_Model):
    """A call that goes wrong, as small as one was found."""

    code: str
    """Python that makes the call; a layer's weights are those that `try` sets under this seed."""
    needs_seed: bool = False
    """Whether there are such weights."""
    name: str = ""
    """Which result is wrong; empty if the call does not return."""
    fault: str = ""
    """What is wrong with it, in words."""
    expected: str = ""
    """The numbers of the right result; empty where there are none to show."""
    got: str
    """The result's numbers, or what the answer raises."""

    @property
    def wanted(self) -> str:
        """What is expected, in one line; empty where there are no numbers to show."""
        return " ".join(self.expected.split())

    @property
    def came(self) -> str:
        """What came instead, in one line: in words where it is not seen by the numbers."""
        return " ".join((self.fault if self.expected == self.got else self.got).split())


class Report(_Model):
    """All that is known of one submission after grading it."""

    schema_version: Literal[2] = 2
    problem: str
    """Its id."""
    title: str
    submission: SubmissionInfo
    verdict: Verdict
    """`error`: it does not load, or lacks an entry; `timeout` and `crashed`: while loading."""
    score: float
    """Errors carried forward: a mistake that has a name costs its price once."""
    strict_score: float
    """The points of the checks that passed."""
    verdict_only: bool = False
    """Only the verdict was asked for: grading ended at the first check that failed, scores are 100
    or 0, and nothing is explained."""
    only: list[str] = []
    """Ids of the checks that alone were run, as `run --only` asks; empty if none were left out.
    Verdict and scores are then of these alone."""
    max_score: float = 100.0
    """What both scores are out of."""
    seed: int
    """Draws the inputs; `--seed` repeats them."""
    device: str = "cpu"
    """Where the checks ran: `cpu`, or the GPU on which its checks ran as well."""
    instruction_set: str = ""
    """Of the processor: what judge and worker computed with."""
    no_gpu: str = ""
    """Why no check on a GPU was assessed; empty if they were, or if the problem has none."""
    sandbox: SandboxInfo
    load_problem: LoadProblem | None = None
    """Of a file that did not load, or lacks an entry."""
    checks: list[CheckResult] = []
    diagnoses: list[Diagnosis] = []
    """The mistakes that are named."""
    failing_call: FailingCall | None = None
    """None where none was found, or looked for."""
    wrong_where: str = ""
    """What the wrong calls that no mistake explains have in common, and no right one has."""
    policy: list[PolicyFinding] = []
    """Broken rules."""
    notes: list[str] = []
    """How entry points, arguments and weights were bound, where that was not plain."""
    never_ran: list[tuple[int, int]] = []
    """First and last line of what no check reached, as the worker tells it: a branch, or a whole
    function. Empty where not all checks were run."""
    hints: dict[str, str] = {}
    """By category of a check that failed."""
    cost: dict[str, float] = {}
    """What its worker used: `cpu_s`, and `peak_memory_bytes`."""
    output: Output = Output()
    timings_s: dict[str, float] = {}
    """Seconds by step."""
    check_timings_s: dict[str, float] = {}
    """Seconds by check; what is asked again of a right answer is no single check's."""

    @property
    def remarks(self) -> list[str]:
        """The notes, and which lines no check reached."""
        lines = self.lines_never_reached
        told = WORDS["en"]["never reached"].format(lines=lines)
        return [*self.notes, told] if lines else self.notes

    @property
    def lines_never_reached(self) -> str:
        """The numbers of lines that no check reached, as in `32, 39–41`."""
        return ", ".join(f"{a}" if a == b else f"{a}–{b}" for a, b in self.never_ran)

    @property
    def not_assessed(self) -> list[CheckResult]:
        """Checks that build on one that failed; those that lack a GPU are `without_gpu`."""
        without = self.without_gpu
        return [c for c in self.checks if c.outcome is Outcome.NOT_ASSESSED and c not in without]

    @property
    def without_gpu(self) -> list[CheckResult]:
        """Checks that nothing could be said of, because there is no GPU: they cost nothing."""
        return [c for c in self.checks if self.no_gpu and c.category is Category.GPU]
