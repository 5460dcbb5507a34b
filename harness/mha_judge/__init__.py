"""A judge for coding exercises on Transformer attention.

    from mha_judge import Judge

    with Judge() as judge:
        print(judge.grade(Path("sdpa.py")).score)

What is not named here is private, and may change.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # a worker imports the package too, and has nothing of this
    from mha_judge.bank.listing import ProblemSummary
    from mha_judge.errors import (
        BankError,
        JudgeError,
        SandboxBroken,
        SandboxUnavailable,
        SubmissionUnreadable,
        UsageError,
    )
    from mha_judge.library import Graded, Judge
    from mha_judge.outcomes import Category, Outcome, Severity, Verdict
    from mha_judge.pool import Grading
    from mha_judge.report.models import CheckResult, Diagnosis, Report
    from mha_judge.sandbox import SandboxOptions
    from mha_judge.submission import Submission
    from mha_judge.version import __version__

__all__ = [
    "BankError",
    "Category",
    "CheckResult",
    "Diagnosis",
    "Graded",
    "Grading",
    "Judge",
    "JudgeError",
    "Outcome",
    "ProblemSummary",
    "Report",
    "SandboxBroken",
    "SandboxOptions",
    "SandboxUnavailable",
    "Severity",
    "Submission",
    "SubmissionUnreadable",
    "UsageError",
    "Verdict",
    "__version__",
]
_HOMES = {
    "errors": (
        "BankError", "JudgeError", "SandboxBroken", "SandboxUnavailable", "SubmissionUnreadable",
        "UsageError",
    ),
    "library": ("Graded", "Judge"),
    "bank.listing": ("ProblemSummary",),
    "outcomes": ("Category", "Outcome", "Severity", "Verdict"),
    "pool": ("Grading",),
    "report.models": ("CheckResult", "Diagnosis", "Report"),
    "sandbox": ("SandboxOptions",),
    "submission": ("Submission",),
    "version": ("__version__",),
}  # fmt: skip
"""In which module each public name is defined."""


def __getattr__(name: str) -> Any:
    for home, names in _HOMES.items():
        if name in names:
            return getattr(importlib.import_module(f"mha_judge.{home}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def load_ipython_extension(shell: Any) -> None:
    """Add the cell magic `%%judge`, when IPython is told `%load_ext mha_judge`."""
    importlib.import_module("mha_judge.notebook").load(shell)
