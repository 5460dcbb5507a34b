"""`inspect eval mha_judge/attention`: the problems as a task of Inspect, and what scores it."""

from __future__ import annotations

from mha_judge.errors import JudgeError, UsageError
from mha_judge.evaluations.examiner import examiner
from mha_judge.extras import require_extra

require_extra("inspect", "the task for Inspect")

from inspect_ai import Task, task  # noqa: E402 - that it is missing is told first
from inspect_ai.dataset import Sample  # noqa: E402
from inspect_ai.scorer import (  # noqa: E402
    CORRECT,
    INCORRECT,
    Score,
    Scorer,
    Target,
    accuracy,
    mean,
    scorer,
    stderr,
)
from inspect_ai.solver import TaskState  # noqa: E402


@task
def attention(
    problems: str | list[str] | None = None,
    language: str = "en",
    bank: str | None = None,
    sandbox: str = "auto",
) -> Task:
    """Write attention and its surroundings in PyTorch and NumPy; graded by running it.

    Args:
        problems: Ids; all of the bank if None.
        language: Of the statements, `en` or `zh`.
        bank: A folder with `problems/`, `graders/` and `reference/`; the built-in one if None.
        sandbox: How answers are confined while they are graded: `auto`, `container` or `jail`.

    Raises:
        UsageError: If there is no such problem, language or sandbox.
    """
    wanted = [problems] if isinstance(problems, str) else problems or []
    prompts = examiner(bank, sandbox).prompts(wanted, language)
    return Task(
        dataset=[Sample(id=problem, input=prompt) for problem, prompt in prompts.items()],
        scorer=judged(bank, sandbox),
    )


@scorer(metrics={"accepted": [accuracy(), stderr()], "score": [mean(), stderr()]})
def judged(bank: str | None = None, sandbox: str = "auto") -> Scorer:
    """Grade the last block of Python in a completion; the sample's id is the problem's.

    Args:
        bank: As of `attention`.
        sandbox: As of `attention`.
    """

    async def score(state: TaskState, target: Target) -> Score:
        completion = state.output.completion
        try:
            mark = await examiner(bank, sandbox).mark(str(state.sample_id), completion)
        except UsageError:  # of the evaluation, not of a sample
            raise
        except JudgeError as error:
            return Score.unscored(
                reason="scoring_failed",
                explanation=str(error),
                metadata={"error": type(error).__name__},
            )
        unread = "invalid_response_format" if completion.strip() else "no_response"
        return Score(
            value={"accepted": CORRECT if mark.accepted else INCORRECT, "score": mark.score},
            answer=mark.answer.source if mark.answer else None,
            explanation=mark.explanation,
            reason=None if mark.answer else unread,
            metadata=mark.facts(),
        )

    return score
