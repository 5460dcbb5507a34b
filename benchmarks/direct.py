"""The same checks in one process, with no isolation: the candidate runs beside the judge.

This is how practice judges work. It is here to be measured against, and nothing else.
"""

from __future__ import annotations

import io
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from typing import Any

import pytest
import torch
from answers import mixed

from mha_judge.bank import Bank
from mha_judge.grading.calling import session
from mha_judge.grading.calling.replies import parse_reply
from mha_judge.grading.failures import Raised
from mha_judge.judge import grade
from mha_judge.report.models import Report
from mha_judge.sandbox import base
from mha_judge.submission import Submission
from mha_judge.wire import map_tree
from mha_judge.wire.operations import Operation
from mha_judge.worker.serve import Server


class _DirectSession(session.Session):
    """Calls the candidate's functions as they are: no process, no wire, no limits."""

    def load(self) -> None:
        self._server = Server()
        self.generation += 1
        self.tier = base.Tier(backend="none", tier="none", details={})
        fields = {"source": self._submission.source, "filename": self._submission.path.name}
        self.definitions = self._obey("load", None, fields).definitions

    def begin(self, op: str, value: object = None, **fields: Any) -> session.Pending:
        pending = session.Pending(self, Operation(op), self._number + 1, 0.0, True)
        pending.take(lambda _: self._obey(op, value, fields))
        return pending

    def put_off(self, op: str, value: object, **fields: Any) -> None:
        self._obey(op, value, fields)

    def _obey(self, op: str, value: object, fields: dict[str, Any]) -> Any:
        self._number += 1
        header = {"id": self._number, "op": op, **fields}
        value = map_tree(_copied, value)  # a candidate must not mark the judge's own tensors
        try:
            with redirect_stdout(io.StringIO()):
                told, values = self._server.obey(header, value)
        except Exception as error:
            kind = type(error).__name__
            raise Raised(f"raises {kind}: {error}", kind=kind) from error
        answer = map_tree(_copied, values.get("answer", values))
        return parse_reply(op, {**told, **answer})

    def close(self) -> None:
        pass


def _copied(leaf: Any) -> Any:
    return leaf.detach().clone() if isinstance(leaf, torch.Tensor) else leaf


@contextmanager
def direct_sessions() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(session, "Session", _DirectSession)
        yield


def graded(bank: Bank, problem: str, submission: Submission) -> Report:
    """Grade one submission in this process; only inside `direct_sessions`."""
    return grade(submission, bank, bank.problem(problem), None, seed=1)  # type: ignore[arg-type]


def main() -> None:
    """Grade the mixed answers one after the other, as `score` does with processes."""
    bank = Bank.builtin()
    with direct_sessions():
        for problem, path in mixed(int(sys.argv[1])):
            graded(bank, problem, Submission.read(path))


if __name__ == "__main__":
    main()
