"""Problems as prompts, and completions as answers: what all evaluations of models share."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from typing import Any

from anyio import to_thread
from markdown_it import MarkdownIt

from mha_judge.errors import SubmissionUnreadable
from mha_judge.library import Judge
from mha_judge.outcomes import Verdict
from mha_judge.render.report import terminal
from mha_judge.report.models import Report
from mha_judge.report.summary import summarise
from mha_judge.submission import Submission

MAX_COMPLETION = 500_000
"""Characters of a completion: a longer one is not searched for an answer."""
_ASKED = {
    "en": "Write this file, all of it:\n\n```python\n{starter}```\n\nIt is run and graded. Hand it "
    "in as one block of Markdown that begins with ```python; of several, the last one is graded.",
    "zh": "请写出这个文件的全部内容：\n\n```python\n{starter}```\n\n它会被运行并评分。请用一个以 "
    "```python 开头的 Markdown 代码块提交；如果有多个，以最后一个为准。",
}
_PYTHON = ("python", "python3", "py")
_BLOCKS = MarkdownIt("zero").enable(["fence", "list"]).disable("inline")
"""Finds blocks of code, at any indentation, alone or in lists."""


@dataclass(frozen=True)
class Mark:
    """What a completion is worth."""

    answer: Submission | None
    """The file in it; None if it holds none that can be read."""
    report: Report | None
    """None if there is no such file."""
    explanation: str
    """The report as a terminal shows it, or what is wrong with the completion."""

    @property
    def accepted(self) -> bool:
        return self.report is not None and self.report.verdict is Verdict.ACCEPTED

    @property
    def score(self) -> float:
        """The report's score, from 0 to 1; 0 without an answer."""
        return self.report.score / self.report.max_score if self.report is not None else 0.0

    def facts(self) -> dict[str, Any]:
        """Return what is worth counting, in types of JSON; empty without an answer."""
        if self.report is None:
            return {}
        return {
            "verdict": self.report.verdict.value,
            "points": self.report.score,
            "strict_points": self.report.strict_score,
            "mistakes": [
                {"id": one.id, "title": one.title, "cost": one.cost}
                for one in self.report.diagnoses
            ],
            "failed_checks": [
                {"id": one.id, "title": one.title, "message": one.message}
                for one in summarise(self.report).failures
            ],
            "seed": self.report.seed,
            "sandbox": f"{self.report.sandbox.backend}: {self.report.sandbox.tier}",
        }


class Examiner:
    """Puts the problems of a bank to models, and marks what they write with one warm judge."""

    def __init__(self, bank: str | None, sandbox: str) -> None:
        """Take `bank` and `sandbox` as `Judge` does; errors are those of it."""
        self._judge = Judge(bank=bank, sandbox=sandbox)

    def prompts(self, problems: Iterable[str], language: str) -> dict[str, str]:
        """Return what a model is asked: statement and starter, by the problem's id.

        Args:
            problems: Ids, in the order wanted; all of the bank, easiest first, if there is none.
            language: `en` or `zh`.

        Raises:
            UsageError: If there is no such problem, or no such language.
        """
        wanted = list(problems) or [one.id for one in self._judge.problems()]
        return {
            problem: f"{self._judge.statement(problem, language)}\n"
            + _ASKED[language].format(starter=self._judge.starter(problem))
            for problem in wanted
        }

    async def mark(self, problem: str, completion: str) -> Mark:
        """Grade the answer in a completion, from asyncio or trio; cancelling ends the grade.

        Raises:
            JudgeError: If no verdict could be reached, through no fault of the completion.
        """
        try:
            answer = await to_thread.run_sync(_answer_in, completion)
        except SubmissionUnreadable as error:
            return Mark(None, None, str(error))
        report = await self._judge.agrade(answer, problem)
        return Mark(answer, report, terminal.printed(report))


@cache
def examiner(bank: str | None, sandbox: str) -> Examiner:
    """Return the examiner of this process; its judge ends with it."""
    return Examiner(bank, sandbox)


def _answer_in(completion: str) -> Submission:
    """Return the last block of Python in a completion, or else its last block without a language.

    Raises:
        SubmissionUnreadable: If there is none, or if it cannot be graded.
    """
    if len(completion) > MAX_COMPLETION:
        raise SubmissionUnreadable(
            f"the completion has {len(completion):,} characters; at most {MAX_COMPLETION:,} are "
            "searched for an answer"
        )
    blocks: dict[bool, str] = {}
    for token in _BLOCKS.parse(completion):
        if token.type == "fence" and token.content.strip():
            label = (token.info.split() or [""])[0].lower()
            if not label or label in _PYTHON:
                blocks[label in _PYTHON] = token.content
    if not blocks:
        raise SubmissionUnreadable("the completion has no block that begins with ```python")
    return Submission.of_text(blocks[max(blocks)])
