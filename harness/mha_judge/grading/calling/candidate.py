"""The `candidate` fixture: the submission, as the entries of its problem."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from mha_judge.bank.problem import Entry
from mha_judge.grading.binding.entries import find_entry
from mha_judge.grading.calling.context import Context
from mha_judge.grading.calling.function import Function
from mha_judge.grading.calling.manner import AXES
from mha_judge.grading.calling.module import ModuleEntry
from mha_judge.grading.calling.sheet import AnswerSheet
from mha_judge.grading.calling.stateful import ObjectEntry

_Proxy = Function | ModuleEntry | ObjectEntry | AnswerSheet


class Candidate:
    """The entries of a problem, as attributes by their names in the contract.

    All its other attributes begin with an underscore, as no entry does, so no name can clash.
    """

    def __init__(self, context: Context) -> None:
        self._context = context
        self._entries: dict[str, _Proxy] = {}

    def __getattr__(self, name: str) -> Any:
        """Return the proxy of an entry.

        Raises:
            CheckFailure: If the file has no such entry.
        """
        if name.startswith("_"):
            raise AttributeError(name)
        problem = self._context.task.problem
        entry = problem.entry_named(name)
        if entry is None:
            raise AttributeError(f"the problem {problem.id} has no entry {name!r}")
        if name not in self._entries:
            self._entries[name] = _proxy(self._context, entry)
        return self._entries[name]


def context_of(candidate: Candidate) -> Context:
    """Return the context that the entries of a candidate share."""
    return candidate._context


@contextmanager
def untraced(candidate: Candidate) -> Iterator[None]:
    """Leave calls out of the diagnosis, such as those that draw numbers of their own."""
    with context_of(candidate).trace.paused():
        yield


def gradient_modes(candidate: Candidate) -> Iterator[str]:
    """Yield the gradient modes, in each of which a check makes all calls that build on one another.

    Until calls are made in manners, only the plain mode is yielded, which is empty.
    """
    manners = context_of(candidate).manners
    yield from (mode for mode in AXES["mode"] if not mode or manners.takes("mode", mode))


def _proxy(context: Context, entry: Entry) -> _Proxy:
    found = find_entry(entry, context.session.definitions)
    if found.name != entry.name:
        context.note(f"`{found.name}` is taken for `{entry.name}`")
    if entry.kind == "answers":
        return AnswerSheet(context, entry)
    kinds: dict[str, Callable[..., _Proxy]]
    kinds = {"module": ModuleEntry, "object": ObjectEntry, "function": Function}
    return kinds[entry.kind](context, entry, found)
