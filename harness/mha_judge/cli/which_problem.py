"""Which problem a file is graded as: the one that `--problem` names, else what the file says."""

from __future__ import annotations

from mha_judge.bank import Bank
from mha_judge.bank.which_problem import ProblemUnknown, problem_of
from mha_judge.errors import UsageError
from mha_judge.submission import Submission
from mha_judge.syntax import syntax_error


def chosen_problem(bank: Bank, problem_id: str | None, submission: Submission) -> str:
    """Return the id of the problem that a file is graded as.

    Args:
        bank: Where problems lie.
        problem_id: What `--problem` names, if it was given.
        submission: The file.

    Raises:
        UsageError: If the bank has no such problem, or nothing says which it is.
    """
    if problem_id is not None:
        bank.require(problem_id)
        return problem_id
    try:
        return problem_of(submission, bank)
    except ProblemUnknown as error:
        raise UsageError(_which_is_it(submission, error.possible)) from error


def _which_is_it(submission: Submission, possible: list[str]) -> str:
    """Return what to do where nothing says which problem a file answers."""
    broken = syntax_error(submission.source)
    mend, what = "", "it defines nothing that a problem asks for"
    if broken is not None:  # it hides what the file defines, and no report will tell of it
        place = f"line {broken.lineno}: " if broken.lineno is not None else ""
        mend, what = f"{place}{broken.msg}; mend this first. ", "what it defines cannot be read"
    if possible:
        what = f"it may answer {' or '.join(possible)}"
    which = "Which problem is this?" if mend else "which problem is this?"
    return (
        f"{submission.path}: {mend}{which} Write a line `# problem: ID` into it, or add "
        f"--problem ID; {what}"
    )
