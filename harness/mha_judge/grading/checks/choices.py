"""Checks on questions with choices."""

from __future__ import annotations

from mha_judge.errors import BankError
from mha_judge.grading.calling.sheet import AnswerSheet
from mha_judge.grading.expecting.compare import describe
from mha_judge.grading.failures import CheckFailure


def assert_choice(answers: AnswerSheet, key: str) -> None:
    """Assert that a candidate chose the right answer to a question.

    Raises:
        CheckFailure: If it is missing, names no choice, or names a wrong one.
    """
    question = answers.questions.get(key)
    if question is None or question.right is None:
        raise BankError(f"there is no question {key!r} with choices; add it to questions.toml")
    answer = answers.get(key)
    choice = question.chosen(answer)
    letters = ", ".join(question.choices)
    if choice is None:
        found = repr(answer)[:80] if isinstance(answer, str) else describe(answer)
        raise CheckFailure(
            f"the answer is {found}; one of the letters {letters} is wanted, "
            "or the whole text of a choice"
        )
    if choice != question.right:
        letter = next(name for name, other in question.choices.items() if other == choice)
        raise CheckFailure(f"the answer is {letter}) {choice.text}", choice.why.strip())
