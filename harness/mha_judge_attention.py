"""`vf-eval mha-judge-attention`: the problems as a taskset of verifiers.

verifiers finds a taskset by the name of a module that is in no package, so this one is beside
`mha_judge`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from pydantic import Field

from mha_judge.evaluations.examiner import examiner
from mha_judge.extras import require_extra

require_extra("verifiers", "the taskset for verifiers")

import verifiers.v1 as vf  # noqa: E402 - that it is missing is told first

__all__ = ["AttentionEnv", "AttentionTaskset"]


class AttentionTaskConfig(vf.TaskConfig):
    """What grades."""

    bank: str | None = None
    """A folder with `problems/`, `graders/` and `reference/`; the built-in one if unset."""
    sandbox: Literal["auto", "container", "jail"] = "auto"
    """How answers are confined while they are graded."""


class AttentionConfig(vf.TasksetConfig):
    """What is asked."""

    task: AttentionTaskConfig = AttentionTaskConfig()
    problems: list[str] = Field(default_factory=list)
    """Ids; all of the bank if empty."""
    language: Literal["en", "zh"] = "en"
    """Of the statements."""


class AttentionTask(vf.Task[vf.TaskData, vf.State, AttentionTaskConfig]):
    """One problem."""

    @vf.reward
    async def judged(self, trace: vf.Trace) -> float:
        """Grade the last block of Python in the model's last reply; return a score from 0 to 1.

        Raises:
            JudgeError: If there is no verdict: the rollout then failed, and has no reward.
        """
        grading = examiner(self.config.bank, self.config.sandbox)
        mark = await grading.mark(str(self.data.id), trace.last_reply)
        trace.record_metric("accepted", float(mark.accepted))
        trace.info["mha_judge"] = {"explanation": mark.explanation, **mark.facts()}
        return mark.score


class AttentionTaskset(vf.Taskset[AttentionTask, AttentionConfig]):
    """The problems, easiest first."""

    def load(self) -> Iterable[AttentionTask]:
        """Yield a task for each problem, whose id is the problem's.

        Raises:
            UsageError: If there is no such problem.
        """
        config = self.config
        grading = examiner(config.task.bank, config.task.sandbox)
        for problem, prompt in grading.prompts(config.problems, config.language).items():
            yield AttentionTask(vf.TaskData(id=problem, name=problem, prompt=prompt), config.task)


class AttentionEnvConfig(vf.SingleAgentEnvConfig):
    """A model that is asked once, without tools: its reply is text, so nothing confines it."""

    agent: vf.AgentConfig = vf.AgentConfig(harness={"id": "null"}, runtime=vf.SubprocessConfig())


class AttentionEnv(vf.SingleAgentEnv, vf.Env[AttentionEnvConfig]):
    """One agent, which answers one problem."""
