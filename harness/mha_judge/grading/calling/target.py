"""Something of the candidate that can be called: a function, or a layer that was made.

Every call also asks the reference, on copies, while the worker computes: nothing that the candidate
does to its inputs can change what is expected of it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

import torch
from torch import Tensor

from mha_judge.bank.problem import Entry
from mha_judge.grading.binding.arguments import Call
from mha_judge.grading.calling.context import Context
from mha_judge.grading.calling.manner import GRADIENTS, Manner
from mha_judge.grading.calling.replies import Called, Gradients, Observed
from mha_judge.grading.calling.session import Pending
from mha_judge.grading.calling.trace import Step
from mha_judge.grading.expecting.answer import Answer, assert_close
from mha_judge.grading.expecting.arrays import as_arrays, as_tensors
from mha_judge.grading.expecting.bounds import bounded_memory, is_out_of_memory
from mha_judge.grading.expecting.expected import (
    Expected,
    Live,
    expect,
    expect_gradients,
    expect_nearest,
    for_candidate,
    leaves,
)
from mha_judge.grading.expecting.memory import key_of, memory
from mha_judge.grading.failures import CheckFailure, Crashed, LeftOpen
from mha_judge.wire.frozen import frozen_names
from mha_judge.wire.operations import Operation

_Expectation = TypeVar("_Expectation")
_NOT_KEPT = ("mode=inference_mode", "leaf")
"""Manners in which a later call may not be able to use the result."""
NOT_OF_WHAT_IS_KEPT = (*_NOT_KEPT, "before", "after", "instance")
"""The same, and manners that may change what an earlier call has left."""


class Wanted(NamedTuple):
    """Which gradients are asked for with a call."""

    wrt: tuple[int, ...]
    """Places of the inputs."""
    cotangents: Sequence[Tensor | None]
    """The gradients of the results."""
    parameters: bool
    """Whether gradients of a layer's parameters are asked for too."""
    frozen: str = ""
    """Which parameters do not learn, as `frozen_names` takes it; empty for none."""
    number: int = 0
    """Which one, modulo their count."""


Gradient = tuple[str, Tensor | None, Expected]
"""Its label, the gradient or None, and what is expected."""


class Told(NamedTuple):
    """The results of a call."""

    answer: Answer
    gradients: list[Gradient]
    written: list[str]
    """The inputs that the call has written to, by their labels."""


class Sent:
    """A call that the worker may not have answered yet."""

    def __init__(self, context: Context, step: Step, pending: Pending | None) -> None:
        """Take the request; without one, the step says why it could not be sent."""
        self.step = step
        self._context = context
        self._pending = pending

    def wait(self) -> Called:
        """Return what the worker answers.

        Raises:
            CheckFailure: What the submission did instead, or why nothing was sent.
            NeverAsked: It ended its process before.
        """
        if self._pending is None:
            assert self.step.failure is not None
            raise self.step.failure
        try:
            self.step.found = self._pending.wait()
        except CheckFailure as failure:
            self.step.failure = failure
            raise
        self.step.number = self._pending.number
        called: Called = self.step.found
        if self._context.observed and called.observed is not None:
            self._context.observations.append(called.observed)
        return called


class Unread(NamedTuple):
    """A call that was made, and what is expected of it."""

    sent: Sent
    expected: Any
    gradients: Any


class Target:
    """Something that can be called: it binds the arguments, and asks the reference too."""

    chained = False
    """Whether a call's result depends on the calls before it."""

    def __init__(self, context: Context, entry: Entry) -> None:
        self._context = context
        self.entry = entry
        self.last: Step | None = None

    @property
    def is_usable(self) -> bool:
        """Whether it can still be called in the state in which it was made."""
        return True

    # what the subclasses know
    def _where(self, args: Sequence[Any]) -> tuple[str | int, Any]:
        raise NotImplementedError

    def references(self) -> tuple[Callable[..., Any], Callable[..., Any]]:
        """Return the reference in float64, and in the dtype of the question."""
        raise NotImplementedError

    def identity(self) -> Sequence[object] | None:
        """Return what the reference's result depends on beside the question; None if unknown."""
        return None

    def remembered(
        self, question: Sequence[object], ask: Callable[[], _Expectation]
    ) -> _Expectation:
        """Return the reference's result for a question, which is computed only once.

        Args:
            question: All that the question consists of.
            ask: Computes the result.
        """
        kept, own = memory(), self.identity()
        key = None if own is None or kept.is_off else key_of(own, question)
        return kept.recall(key, ask)

    def expected(self, args: Sequence[Any]) -> Any:
        """Return what is expected of a call, as a tree of `Expected`."""

        def ask() -> Any:
            exact, rounded = self.references()
            return expect(exact, args, rounded)

        return self.remembered(("values", args), ask)

    def nearest(self, args: Sequence[Any], dtype: torch.dtype) -> Any:
        """Return what is expected of a call, as a tree of `Nearest`.

        Args:
            args: As they are in the contract.
            dtype: The dtype in which the reference is known to answer such a call.
        """

        def ask() -> Any:
            return expect_nearest(self.references()[0], args, dtype)

        return self.remembered(("nearest", args, dtype), ask)

    def _expected_gradients(
        self,
        args: Sequence[Any],
        wrt: Sequence[int],
        cotangents: Sequence[Tensor | None],
        parameters: bool,
    ) -> Any:
        def ask() -> Any:
            exact, rounded = self.references()
            own = self._parameters_of_references() if parameters else ({}, {})
            return expect_gradients(exact, rounded, args, cotangents, wrt, own)

        return self.remembered(("gradients", args, cotangents, wrt, parameters), ask)

    def __call__(self, *args: Any, keep: bool = False, **how: str) -> Answer:
        """Call with the contract's arguments.

        Args:
            args: As they are in the contract.
            keep: Whether later calls may use the result itself.
            how: The manner of the call, such as its `mode`, by axis; by default, or where it is
                empty, the next one in turn.
        """
        number, manner = self._manner("value", args, *(_NOT_KEPT if keep else ()))
        manner |= {axis: value for axis, value in how.items() if value}
        called, expected = self._answered(args, keep=keep, manner={**manner, "number": number})
        kept = self._context.session.last_number if keep else None
        return Answer(self.entry, called.value, expected, kept)

    def as_it_is(self) -> Target:
        """Return the target with its present weights, whatever it gets later."""
        return self

    def ask(
        self,
        args: Sequence[Any],
        manner: Mapping[str, Any],
        dtype: torch.dtype | None = None,
        wanted: Wanted | None = None,
    ) -> Unread | None:
        """Begin a call in a manner; return None if the reference refuses such arguments.

        Until it is read this may be given other weights, if what `as_it_is` returned before reads
        it.

        Args:
            args: As they are in the contract.
            manner: How it is called.
            dtype: The dtype in which the reference is known to answer such a call; then it is run
                in float64 only.
            wanted: The gradients that are asked for.
        """
        how: dict[str, Any] = {"watched": True}
        if wanted is not None:
            how |= {"cotangents": [*wanted.cotangents], "wrt": wanted.wrt}
        sent = self.begin(args, manner=manner, **how)
        try:
            if wanted is not None:  # whoever drew the cotangents asked what is expected
                differentiated = self._expected_gradients(args, *wanted[:3])
                return Unread(sent, self.expected(args), differentiated)
            if dtype is None:
                return Unread(sent, self.expected(args), None)
            return Unread(sent, self.nearest(args, dtype), None)
        except Exception:
            return None

    def told(self, args: Sequence[Any], unread: Unread, wanted: Wanted | None = None) -> Told:
        """Return the results of a call, once the worker has answered.

        Args:
            args: The arguments of the call.
            unread: The call.
            wanted: The gradients that were asked for.

        Raises:
            CheckFailure: What the submission did instead.
            NeverAsked: It ended its process before.
        """
        called = unread.sent.wait()
        return Told(
            Answer(self.entry, called.value, unread.expected),
            self._pulled_back(called, wanted, *unread.gradients) if wanted else [],
            [self.argument_label(index) for index in self._written(args, called.written)],
        )

    def _written(self, args: Sequence[Any], places: Sequence[int] | None) -> list[int]:
        """Return which of the contract's arguments the worker says a call has written to."""
        if not places:
            return []
        _, (by_place, by_name) = self.bound(args)
        given = [one for one in leaves([*by_place, *by_name.values()]) if isinstance(one, Tensor)]
        written = [given[place] for place in places if place < len(given)]
        return [
            index
            for index, arg in enumerate(args)
            if any(leaf is one for leaf in leaves([arg]) for one in written)
        ]

    def attempt(self, *args: Any, keep: bool = False, mode: str = "") -> Any:
        """Call without asking the reference, for input that the contract rules out.

        Args:
            args: As they are in the contract.
            keep: Whether later calls may use the result itself.
            mode: The gradient mode.
        """
        how: dict[str, Any] = {"keep": True} if keep else {}
        how |= {"manner": {"mode": mode}} if mode else {}
        return self._send(args, **how).value

    def inputs_after(self, *args: Any) -> list[Any]:
        """Return the contract's arguments as they are after a call."""
        _, manner = self._manner("inputs", args, "before", "after", "instance", "leaf")
        called = self._send(args, inputs_after=True, manner=manner)
        return self._inputs_of(args, called)

    def inputs_of(self, step: Step) -> list[Any]:
        """Return the contract's arguments as they are after a step that asked for them."""
        return self._inputs_of(step.args, step.found)

    def _inputs_of(self, args: Sequence[Any], called: Called) -> list[Any]:
        if called.inputs is None:
            raise Crashed("the worker's answer lacks the inputs")
        return self._undo(args, *called.inputs)

    def observe(
        self, *args: Any, mode: str = "", layout: str = "", wrt: Sequence[int] = ()
    ) -> Observed:
        """Return what a call does: functions, operators, operations, sizes.

        The observed call's value is compared like any other, so that what is observed is the
        answer. If the manner is not plain, the claims on modes and layouts compare it.

        Args:
            args: The contract's arguments.
            mode: The gradient mode.
            layout: How the inputs lie in memory.
            wrt: Places of the inputs that require gradients.
        """
        if mode or layout or wrt:
            manner = {"mode": mode, "layout": layout}
            called = self._send(args, wrt=wrt, observe="call", manner=manner)
        else:
            called, expected = self._answered(args, observe="call")
            assert_close(Answer(self.entry, called.value, expected), self.entry.returns[0])
        return called.what_it_did()

    def observe_backward(
        self, *args: Any, wrt: Sequence[int], cotangents: Sequence[Tensor | None]
    ) -> Observed:
        """Return what the backward pass of a call does; the claims compare its gradients."""
        wanted = list(cotangents)
        called = self._send(args, wrt=wrt, cotangents=wanted, observe="backward")
        return called.what_it_did()

    def gradients(
        self,
        *args: Any,
        wrt: Sequence[int],
        cotangents: Sequence[Tensor | None],
        parameters: bool = False,
    ) -> list[Gradient]:
        """Return label, gradient and expectation of each differentiated input and parameter.

        They are asked for again with fewer tensors that require gradients: some of the inputs, the
        inputs alone, and the parameters alone.
        """
        _, manner = self._manner(GRADIENTS, args, "mode", "leaf", "frozen")
        rows = self._gradients(args, wrt, cotangents, parameters, manner)
        for fewer, learning, kind in _fewer(wrt, parameters):
            if self._context.manners.takes(*kind):
                also = {"frozen": "yes"} if parameters and not learning else {}
                rows += self._gradients(args, fewer, cotangents, learning, manner | also)
        return rows

    def _gradients(
        self,
        args: Sequence[Any],
        wrt: Sequence[int],
        cotangents: Sequence[Tensor | None],
        parameters: bool,
        manner: Mapping[str, Any],
    ) -> list[Gradient]:
        called, (expected, (wanted, wanted_parameters)) = self._meanwhile(
            lambda: (
                self.expected(args),
                self._expected_gradients(args, wrt, cotangents, parameters),
            ),
            args,
            cotangents=list(cotangents),
            wrt=wrt,
            manner=manner,
        )
        assert_close(Answer(self.entry, called.value, expected), self.entry.returns[0])
        return self._pulled_back(
            called, Wanted(tuple(wrt), cotangents, parameters), wanted, wanted_parameters
        )

    def _pulled_back(
        self,
        called: Called,
        wanted: Wanted,
        of_inputs: Sequence[Expected],
        of_parameters: Mapping[str, Expected],
    ) -> list[Gradient]:
        """Return the gradients that came with a call."""
        found = _gradients_of(called, wanted.wrt)
        came = zip(wanted.wrt, found.inputs.values(), of_inputs, strict=True)
        rows = [(self.argument_label(index), one, expected) for index, one, expected in came]
        if wanted.parameters:
            rows += self._parameter_gradients(found.parameters, of_parameters)
            if wanted.frozen:
                frozen = frozen_names([*found.parameters], wanted.frozen, wanted.number)
                labels = {f"the parameter {name}" for name in frozen}
                rows = [row for row in rows if row[0] not in labels]
        return rows

    def drawn_gradients(
        self, *args: Any, wrt: Sequence[int], cotangents: Sequence[Tensor | None]
    ) -> tuple[Any, list[Tensor | None]]:
        """Return the result and gradients of a call that draws numbers, as dropout does."""
        manner = {"after": "call"} if self._context.manners.takes("after", "call") else {}
        with self._context.trace.paused():
            called = self._send(args, cotangents=list(cotangents), wrt=wrt, manner=manner)
        return called.value, list(_gradients_of(called, wrt).inputs.values())

    def argument_label(self, index: int) -> str:
        return (
            f"`{self.entry.arguments[index]}`" if index < len(self.entry.arguments) else "an input"
        )

    def _parameters_of_references(self) -> tuple[dict[str, Tensor], dict[str, Tensor]]:
        return {}, {}

    def _parameter_gradients(
        self, found: Mapping[str, Tensor | None], wanted: Mapping[str, Expected]
    ) -> list[Gradient]:
        return []

    def _answered(self, args: Sequence[Any], **options: Any) -> tuple[Called, Any]:
        """Return what a call gave, and what is expected of it."""
        return self._meanwhile(lambda: self.expected(args), args, **options)

    def _meanwhile(
        self, ask: Callable[[], _Expectation], args: Sequence[Any], **options: Any
    ) -> tuple[Called, _Expectation]:
        """Return what a call gave, and what `ask` returned while the worker computed."""
        self._context.session.settle()
        sent = self.begin(args, **options)
        if self._context.task.mistaken is None:
            asked = ask()
            return sent.wait(), asked
        raised: Exception | None = None
        try:
            with bounded_memory():
                asked = ask()
        except Exception as error:
            raised = error
        called = sent.wait()
        if raised is None:
            return called, asked
        if is_out_of_memory(raised):
            raise LeftOpen
        raise CheckFailure("the mistake that is granted raises here, and the answer does not")

    def _send(self, args: Sequence[Any], **options: Any) -> Called:
        self._context.session.settle()
        return self.begin(args, **options).wait()

    def begin(
        self,
        args: Sequence[Any],
        cotangents: Any = None,
        wrt: Sequence[int] = (),
        **options: Any,
    ) -> Sent:
        """Call while the worker may still answer earlier calls.

        Args:
            args: As they are in the contract.
            cotangents: The upstream gradients, if gradients are asked for.
            wrt: Places of the inputs that require gradients.
            options: Further fields of the request.
        """
        step = Step(self, tuple(args), cotangents, wrt, options)
        self.last = step
        self._context.trace.note(step)
        pending = None
        try:
            pending = self._request(args, cotangents, wrt, **options)
        except CheckFailure as failure:
            step.failure = failure
        return Sent(self._context, step, pending)

    def _request(
        self, args: Sequence[Any], cotangents: Any, wrt: Sequence[int], **options: Any
    ) -> Pending:
        target, call = self.bound(args)
        places = _places(call, [args[index] for index in wrt])
        prepared = (for_candidate(call[0]), {k: for_candidate(v) for k, v in call[1].items()})
        if self.entry.arrays == "numpy":
            prepared = as_arrays(prepared)
        if self._context.observed and not wrt:  # with gradients asked for, there is a graph
            options.setdefault("observe", "call")
        if self.entry.language_models:
            models = [self._named(args)[name] for name in self.entry.language_models]
            options["language_models"] = _places(call, models)
        return self._context.session.begin(
            Operation.CALL,
            (*prepared, cotangents),
            target=target,
            wrt=places,
            **self._fields(),
            **options,
        )

    def bound(self, args: Sequence[Any]) -> tuple[str | int, Call]:
        """Return the worker's target, and the candidate's arguments for those of the contract."""
        target, signature = self._where(args)
        named = self._named(args)
        sizes = sizes_of(self.entry, args)
        return target, self._context.bind(self._what(), signature, named, sizes)

    def whereabouts(self, *args: Any) -> Called:
        """Return the devices of a call's result, and what the call does; not its value."""
        return self._send(args, devices=True, observe="call")

    def peak_bytes(self, *args: Any) -> int:
        """Return the peak of what a call allocates on the device, beyond its inputs."""
        called = self._send(args, devices=True, peak=True)
        if called.peak_bytes is None:
            raise Crashed("the worker's answer lacks the memory")
        return called.peak_bytes

    def _manner(self, asked: str, args: Sequence[Any], *without: str) -> tuple[int, Manner]:
        """Return a number, and in which manner the next call is made."""
        unfit = {*without, *self._unfit(), "leaf=none"}  # gradients sweep through it
        if any(isinstance(leaf, Live) for leaf in leaves(args)):
            unfit |= {*NOT_OF_WHAT_IS_KEPT}
        if not self._context.task.problem.has_gradients:
            unfit |= {"leaf", "before=backward"}
        if self.entry.arrays == "numpy":
            unfit |= {"mode", "leaf", "frozen", "instance"}
            unfit |= {"before=inference", "before=backward"}
        given = tuple(value is not None for value in args)
        return self._context.manners.following((asked, self.entry.name, *given), args, unfit)

    def _unfit(self) -> Collection[str]:
        """Return the axes, or `axis=value`, in which this cannot be called."""
        return ()

    def _fields(self) -> dict[str, Any]:
        """Return further fields of a request."""
        return {}

    def _named(self, args: Sequence[Any]) -> dict[str, Any]:
        names = self.entry.arguments
        return dict(zip(names, [*args, *[None] * (len(names) - len(args))], strict=True))

    def _what(self) -> str:
        return f"`{self.entry.name}`"

    def _undo(
        self, args: Sequence[Any], passed: Sequence[Any], named: Mapping[str, Any]
    ) -> list[Any]:
        """Return each argument as it came back, in the contract's order."""
        _, call = self.bound(args)
        passed = as_tensors(list(passed))
        named = {key: as_tensors(value) for key, value in named.items()}
        if len(passed) != len(call[0]):
            raise Crashed("the worker's answer lacks an input")
        slots = [*zip(call[0], passed, strict=True)]
        slots += [(value, named.get(key)) for key, value in call[1].items()]
        return [next((after for before, after in slots if before is arg), arg) for arg in args]


def _gradients_of(called: Called, wrt: Sequence[int]) -> Gradients:
    """Return the gradients that came with a call, one for each input that was differentiated."""
    found = called.gradients
    if found is None or len(found.inputs) != len(wrt):
        raise Crashed("the worker's answer lacks the gradients")
    return found


def _fewer(
    wrt: Sequence[int], parameters: bool
) -> Iterator[tuple[Sequence[int], bool, tuple[str, str]]]:
    """Yield fewer inputs, whether the parameters learn too, and the axis and value of that."""
    if len(wrt) > 1:
        yield from (([index], parameters, ("leaf", "one")) for index in wrt)
    if len(wrt) > 2:
        for index in wrt:
            yield [one for one in wrt if one != index], parameters, ("leaf", "all but one")
    if parameters and wrt:
        yield [], True, ("leaf", "none")
        yield wrt, False, ("frozen", "yes")


def sizes_of(entry: Entry, args: Sequence[Any]) -> dict[str, int]:
    """Return the sizes that a call's arguments show, for parameters outside the contract."""
    first = args[0] if args else None
    if not isinstance(first, Tensor) or not first.dim():
        return {}
    sizes = {"head_dim": int(first.shape[-1])}
    heads = args[1] if len(args) > 1 else None
    if "num_heads" in entry.arguments and isinstance(heads, int) and heads:
        sizes = {"embed_dim": int(first.shape[-1]), "num_heads": heads}
    elif entry.arguments == ["x"] and first.dim() == 4:
        sizes["num_heads"] = int(first.shape[1])
    return sizes


def _places(call: Call, wanted: Sequence[Any]) -> list[str]:
    """Return the index or keyword of each differentiated argument in a bound call."""
    places = []
    for value in wanted:
        by_index = [str(i) for i, item in enumerate(call[0]) if item is value]
        by_name = [key for key, item in call[1].items() if item is value]
        places.append((by_index + by_name)[0])
    return places
