"""What a model is asked, which part of its completion is graded, and what that is worth."""

import anyio
import pytest

from mha_judge import BankError, Judge
from mha_judge.bank import Bank
from mha_judge.errors import UsageError
from mha_judge.evaluations.examiner import MAX_COMPLETION, _answer_in, examiner

HANGS = "```python\nwhile True:\n    pass\n```"
FORKS = "```python\nimport os\nwhile True:\n    os.fork()\n```"


def mark(completion):
    return anyio.run(examiner(None, "jail").mark, "softmax", completion)


@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_prompt_has_statement_and_starter_and_tells_no_mistake(language):
    prompts = examiner(None, "jail").prompts([], language)
    judge, bank = Judge(), Bank.builtin()

    assert list(prompts) == [one.id for one in judge.problems()]
    for problem, prompt in prompts.items():
        assert judge.statement(problem, language) in prompt
        assert f"```python\n{judge.starter(problem)}```\n" in prompt
        for mistake in bank.mistakes(problem):
            assert mistake.title not in prompt
            assert mistake.explanation not in prompt


@pytest.mark.parametrize(
    ("problems", "language", "words"),
    [(["sofmax"], "en", "did you mean softmax"), (["softmax"], "fr", "no language 'fr'")],
)
def test_what_cannot_be_asked_is_refused(problems, language, words):
    with pytest.raises(UsageError, match=words):
        examiner(None, "jail").prompts(problems, language)


@pytest.mark.parametrize(
    ("completion", "answer"),
    [
        ("```python\nx = 1\n```", "x = 1\n"),
        ("```python\nx = 1\n```\nbetter:\n~~~py\nx = 2\n~~~", "x = 2\n"),
        ("```Python title=a.py\nx = 1\n```\n```bash\nls\n```\n```\n1\n```", "x = 1\n"),
        ("```\nx = 1\n```", "x = 1\n"),
        ("<answer>\n```python\nx = 1\n\ny = 2\n```\n</answer>", "x = 1\n\ny = 2\n"),
        ("1. so:\n    ```python\n    if x:\n        y\n    ```", "if x:\n    y\n"),
        ("````python\n'''\n```\n'''\n````", "'''\n```\n'''\n"),
        ("cut off ```\n```python\nx = 1\ny = ", "x = 1\ny = "),
    ],
)
def test_the_last_block_of_python_is_the_answer(completion, answer):
    assert _answer_in(completion).source == answer


@pytest.mark.parametrize(
    ("completion", "words"),
    [
        ("", "no block that begins with"),
        ("def softmax(x, axis=-1): ...", "no block that begins with"),
        ("```python\n\n```", "no block that begins with"),
        ("```bash\nls\n```", "no block that begins with"),
        (f"```python\n{'#' * 300_000}\n```", "larger than 256 KiB"),
        ("```python\nx = '\ud800'\n```", "not Unicode"),
        (f"{'so ' * (MAX_COMPLETION // 2)}```python\nx = 1\n```", "searched for an answer"),
    ],
)
def test_a_completion_without_a_file_is_worth_nothing(completion, words):
    nothing = mark(completion)

    assert words in nothing.explanation
    assert (nothing.answer, nothing.accepted, nothing.score) == (None, False, 0)
    assert nothing.facts() == {}


@pytest.mark.slow
def test_a_mark_says_what_the_report_says(right, wrong):
    good, bad = mark(right), mark(wrong)

    assert (good.accepted, good.score, good.facts()["mistakes"]) == (True, 1, [])
    assert (bad.accepted, bad.score, bad.facts()["points"]) == (False, 0.85, 85)
    assert [one["id"] for one in bad.facts()["mistakes"]] == ["no-max-subtraction"]
    assert "large-numbers" in [one["id"] for one in bad.facts()["failed_checks"]]
    assert "The exponentials overflow" in bad.explanation


@pytest.mark.slow
def test_an_answer_that_forks_or_claims_a_grade_gets_none(hostile):
    for completion in (FORKS, hostile):
        bad = mark(completion)
        assert (bad.report is None, bad.accepted, bad.score) == (False, False, 0)


@pytest.mark.slow
def test_one_that_hangs_keeps_nobody_waiting_and_can_be_left(right):
    async def both():
        async with anyio.create_task_group() as group:
            group.start_soon(examiner(None, "jail").mark, "softmax", HANGS)
            first = await examiner(None, "jail").mark("softmax", right)
            group.cancel_scope.cancel()
        return first

    assert anyio.run(both).accepted


@pytest.mark.slow
def test_no_verdict_is_an_error_and_no_mark(bank, right):
    with pytest.raises(BankError):
        anyio.run(examiner(str(bank), "jail").mark, "broken", right)
