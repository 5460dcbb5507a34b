"""Every way in which the judge itself can fail, with the exit code of each.

A wrong answer is never an exception here: it is a verdict in a report.
"""

from typing import ClassVar


class JudgeError(Exception):
    """The judge could not reach a verdict."""

    exit_code: ClassVar[int] = 3


class UsageError(JudgeError):
    """What was asked for does not exist or does not fit together."""

    exit_code = 2


class SubmissionUnreadable(UsageError):
    """The candidate's file is not a readable source file."""


class BankError(JudgeError):
    """A problem, grader or reference of the bank is broken."""

    exit_code = 4


class SandboxUnavailable(JudgeError):
    """Nothing ran, because the sandbox could not start."""

    exit_code = 5


class SandboxBroken(JudgeError):
    """The sandbox ended or broke its protocol in the middle of a grade."""

    exit_code = 6


class WorkforceLost(JudgeError):
    """What was grading is gone, and with it all that was not done."""

    exit_code = 7


class ProgressUnavailable(JudgeError):
    """What a learner has done cannot be read or kept."""

    exit_code = 8
