"""The certificate of a problem: what was graded, with which results, and what is wrong."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict

from mha_judge.outcomes import Outcome

MIN_MARGIN = 10.0
"""The error of a mistake must be at least this many times the error budget."""
MAX_STARTER_SCORE = 20.0
MAX_WORTHLESS_SCORE = 10.0
MAX_SPREAD = 2.0
"""How far the scores of one mistake may differ between seeds."""


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", use_attribute_docstrings=True)


class Kill(_Model):
    """The results of one known mistake, over all seeds."""

    id: str
    title: str
    killed_by: str
    """The check that must fail."""
    outcomes: dict[str, Outcome] = {}
    """Check and outcome: passed only if it passed for every seed."""
    killed: bool = True
    """Whether the check that must fail failed for every seed."""
    margin: float | None = None
    """The smallest error of that check as a multiple of what is allowed; None if it has none."""
    diagnoses: list[str] = []
    """What reports named that did not name this mistake first."""
    scores: list[float] = []
    """One for each seed under which no check is left."""
    left: list[str] = []
    """Checks that fail even though the mistake is granted."""


class Baseline(_Model):
    """A worthless answer made from the reference."""

    name: str
    accepted: bool = False
    score: float = 0.0


class Pair(_Model):
    """Two mistakes made at once."""

    ids: list[str]
    score: float


class Names(_Model):
    """Counts of the names in reports, against the mistakes that the answers are known to make."""

    right: int = 0
    missing: int = 0
    false: int = 0
    """Mistakes that were named though the answer does not make them."""

    def __add__(self, other: Names) -> Names:
        return Names(
            right=self.right + other.right,
            missing=self.missing + other.missing,
            false=self.false + other.false,
        )


class Mutant(_Model):
    """A change to the reference that every check lets pass."""

    change: str
    line: int
    reason: str | None = None
    """Why it makes no difference, where the bank lists one."""


class Tally(_Model):
    """How much of one kind was graded."""

    tried: int = 0
    of: int = 0
    """How many there are; more than `tried` if only a part was drawn."""
    seconds: float = 0.0


class Fault(_Model):
    """Something that is wrong with a problem, and in which part of it."""

    subject: str
    """`unfinished`, `reference`, `starter`, `mistake ID`, `check ID`, `pairs`, `baselines`,
    `corner faults`, `mutants` or `texts`."""
    message: str

    def __str__(self) -> str:
        return f"{self.subject}: {self.message}"


class Certificate(_Model):
    """All that `verify` found out about one problem."""

    problem: str
    seeds: list[int]
    checks: dict[str, str]
    """Id and title of every check."""
    advisory: list[str] = []
    device: str = "cpu"
    no_gpu: str = ""
    """Why nothing is certified about a GPU; empty if it is, or if the problem has no such check."""
    mistakes_without_gpu: list[str] = []
    """Mistakes that only a GPU shows, if there is none."""
    reference_scores: list[float] = []
    starter_score: float = 0.0
    mistakes: list[Kill] = []
    pairs: list[Pair] = []
    """Pairs that were tried: each must score less than either mistake alone."""
    baselines: list[Baseline] = []
    corner_faults: list[Baseline] = []
    """References that are wrong in one manner of call; `accepted` if no check names the manner."""
    names: Names = Names()
    """Counted over mistakes, alone and in pairs, and over corner faults, which are none."""
    mutants: int = 0
    """How many changes to the reference were tried."""
    survivors: list[Mutant] = []
    agreements: list[str] = []
    """Independent implementations that the reference was compared with."""
    graded: dict[str, Tally] = {}
    """By kind, in the order in which they were graded."""
    faults: list[Fault] = []
    """The problem is certified if there is none."""
    seconds: float = 0.0

    @property
    def certified(self) -> bool:
        return not self.faults

    @property
    def subjects(self) -> list[str]:
        """All parts that were examined, in that order."""
        return [
            "unfinished",
            "reference",
            "starter",
            *(f"mistake {kill.id}" for kill in self.mistakes),
            *(f"check {check}" for check in self.checks if check not in self.advisory),
            "pairs",
            "baselines",
            "corner faults",
            "mutants",
            "texts",
        ]


class Certification(_Model):
    """The certificates of a bank's problems."""

    schema_version: int = 1
    problems: list[Certificate]

    draw: str | None = None
    """What was tried and what was left out, if not all was tried."""

    @property
    def certified(self) -> bool:
        return all(certificate.certified for certificate in self.problems)

    @property
    def names(self) -> Names:
        """How many names were right in all problems."""
        return sum((certificate.names for certificate in self.problems), Names())

    @property
    def graded(self) -> dict[str, Tally]:
        """How much of each kind was graded in all problems."""
        total: dict[str, Tally] = {}
        for certificate in self.problems:
            for kind, tally in certificate.graded.items():
                whole = total.setdefault(kind, Tally())
                whole.tried += tally.tried
                whole.of += tally.of
                whole.seconds += tally.seconds
        return total
