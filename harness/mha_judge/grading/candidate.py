"""The `candidate` fixture: a proxy whose calls run in the worker.

Every call first asks the reference, on copies, so that nothing the candidate does to its inputs
can change what is expected of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from mha_judge.grading.arguments import bind, extras_for
from mha_judge.grading.assertions import assert_close, describe, require_form
from mha_judge.grading.draw import Draw
from mha_judge.grading.entries import Found, find_entry
from mha_judge.grading.expected import (
    Expected,
    Live,
    expect,
    expect_gradients,
    for_candidate,
    leaves,
)
from mha_judge.grading.failures import CheckFailure, Crashed, Raised
from mha_judge.grading.replies import Called, Made, Observed, ParameterInfo
from mha_judge.grading.session import Session
from mha_judge.grading.weights import Arrangement, RoleWeights, arrangements
from mha_judge.problem import Entry, Problem
from mha_judge.report.models import Outcome
from mha_judge.wire import Kept

_BIAS_SCALE = 0.3


class Answer:
    """What a call returned, beside what was expected of it."""

    def __init__(self, entry: Entry, value: Any, expected: Any, call: int | None = None) -> None:
        self._entry = entry
        self._call = call
        names = entry.returns
        many = isinstance(expected, tuple) and len(names) > 1
        self.expected = dict(zip(names, expected, strict=False)) if many else {names[0]: expected}
        if isinstance(value, (list, tuple)) and not (
            len(names) == 1 and len(value) != 1 and not value
        ):
            self._values = dict(zip(names, value, strict=False))
        else:
            self._values = {names[0]: value}

    def has(self, name: str) -> bool:
        """Return whether the candidate returned this result at all."""
        return self._values.get(name) is not None

    def pairs(self, name: str) -> Iterator[tuple[Any, Expected, str]]:
        """Yield every tensor of a result with its expectation and a label.

        Raises:
            CheckFailure: If the result is missing or not built as the contract says.
        """
        if name not in self._values:
            raise CheckFailure(f"returns no {name}; {', '.join(self._entry.returns)} are wanted")
        yield from _pairs(self._values[name], self.expected[name], name)

    def __getattr__(self, name: str) -> Tensor:
        """Return a result by name, known to have the expected shape and dtype."""
        if name.startswith("_") or name not in self.expected:
            raise AttributeError(name)
        [(value, expected, label)] = self.pairs(name)
        return require_form(value, expected, label)

    def tensors(self, name: str) -> list[Tensor]:
        """Return all tensors of a nested result, known to have the expected form."""
        return [require_form(value, wanted, label) for value, wanted, label in self.pairs(name)]

    def live(self, name: str) -> Live:
        """Return the very object that the worker returned, to pass it on to a later call."""
        if self._call is None:
            raise RuntimeError("only an answer of a call with keep=True is live")
        list(self.pairs(name))  # of the right build, or there is nothing to pass on
        index = self._entry.returns.index(name)
        return Live(Kept(self._call, (index,)), self.expected[name])


def _pairs(value: Any, expected: Any, label: str) -> Iterator[tuple[Any, Expected, str]]:
    if isinstance(expected, Expected):
        yield value, expected, label
        return
    if not isinstance(value, (list, tuple)) or len(value) != len(expected):
        raise CheckFailure(f"{label} is {describe(value)}; {len(expected)} tensors are wanted")
    for index, (item, wanted) in enumerate(zip(value, expected, strict=True)):
        yield from _pairs(item, wanted, f"{label}[{index}]")


class _Target:
    """Something that can be called: arguments bound, reference asked first, answer kept apart."""

    def __init__(self, candidate: Candidate, entry: Entry) -> None:
        self._candidate = candidate
        self.entry = entry

    # what the subclasses know
    def _where(self, args: Sequence[Any]) -> tuple[str | int, Any]:
        raise NotImplementedError

    def _references(self) -> tuple[Callable[..., Any], Callable[..., Any]]:
        raise NotImplementedError

    def __call__(self, *args: Any, keep: bool = False) -> Answer:
        """Call with the contract's arguments; `keep` lets later calls use the result itself."""
        exact, rounded = self._references()
        expected = expect(exact, args, rounded)
        called = self._send(args, keep=keep)
        number = self._candidate.session.last_number if keep else None
        return Answer(self.entry, called.value, expected, number)

    def attempt(self, *args: Any) -> Any:
        """Call without asking the reference, for input that the contract rules out."""
        return self._send(args).value

    def inputs_after(self, *args: Any) -> list[Any]:
        """Return the contract's arguments as they stand after a call."""
        called = self._send(args, inputs_after=True)
        if called.inputs is None:
            raise Crashed("the worker's answer lacks the inputs")
        return self._undo(args, *called.inputs)

    def observe(self, *args: Any) -> Observed:
        """Return what a call does: functions, operators, operations, sizes.

        The value of the observed call is graded like any other: what is observed is the answer.
        """
        exact, rounded = self._references()
        expected = expect(exact, args, rounded)
        called = self._send(args, observe=True)
        assert_close(Answer(self.entry, called.value, expected), self.entry.returns[0])
        if called.observed is None:
            raise Crashed("the worker's answer lacks the observation")
        return called.observed

    def gradients(
        self,
        *args: Any,
        wrt: Sequence[int],
        cotangents: Sequence[Tensor | None],
        parameters: bool = False,
    ) -> list[tuple[str, Tensor | None, Expected]]:
        """Return label, gradient and expectation of each differentiated input and parameter."""
        exact, rounded = self._references()
        own = self._parameters_of_references() if parameters else ({}, {})
        wanted, wanted_parameters = expect_gradients(exact, rounded, args, cotangents, wrt, own)
        called = self._send(args, cotangents=list(cotangents), wrt=wrt)
        value = Answer(self.entry, called.value, expect(exact, args, rounded))
        assert_close(value, self.entry.returns[0])
        found = called.gradients
        if found is None or len(found.inputs) != len(wrt):
            raise Crashed("the worker's answer lacks the gradients")
        rows = [
            (self.argument_label(index), gradient, expected)
            for index, gradient, expected in zip(wrt, found.inputs.values(), wanted, strict=True)
        ]
        if parameters:
            rows += self._parameter_gradients(found.parameters, wanted_parameters)
        return rows

    def argument_label(self, index: int) -> str:
        return (
            f"`{self.entry.arguments[index]}`" if index < len(self.entry.arguments) else "an input"
        )

    def _parameters_of_references(self) -> tuple[dict[str, Tensor], dict[str, Tensor]]:
        return {}, {}

    def _parameter_gradients(
        self, found: Mapping[str, Tensor | None], wanted: Mapping[str, Expected]
    ) -> list[tuple[str, Tensor | None, Expected]]:
        return []

    def _send(
        self, args: Sequence[Any], cotangents: Any = None, wrt: Sequence[int] = (), **options: Any
    ) -> Called:
        target, signature = self._where(args)
        named = self._named(args)
        call = bind(self._what(), signature, named, extras_for(_sizes(self.entry, args)))
        places = _places(call, [args[index] for index in wrt])
        prepared = (for_candidate(call[0]), {k: for_candidate(v) for k, v in call[1].items()})
        called: Called = self._candidate.session.request(
            "call", (*prepared, cotangents), target=target, wrt=places, **options
        )
        return called

    def _named(self, args: Sequence[Any]) -> dict[str, Any]:
        names = self.entry.arguments
        return dict(zip(names, [*args, *[None] * (len(names) - len(args))], strict=True))

    def _what(self) -> str:
        return f"`{self.entry.name}`"

    def _undo(
        self, args: Sequence[Any], passed: Sequence[Any], named: Mapping[str, Any]
    ) -> list[Any]:
        """Return what came back of each argument, in the contract's order."""
        _, signature = self._where(args)
        call = bind(
            self._what(), signature, self._named(args), extras_for(_sizes(self.entry, args))
        )
        if len(passed) != len(call[0]):
            raise Crashed("the worker's answer lacks an input")
        slots = [*zip(call[0], passed, strict=True)]
        slots += [(value, named.get(key)) for key, value in call[1].items()]
        return [next((after for before, after in slots if before is arg), arg) for arg in args]


def _sizes(entry: Entry, args: Sequence[Any]) -> dict[str, int]:
    """Return the sizes that a call's arguments show, for parameters outside the contract."""
    first = args[0] if args else None
    if not isinstance(first, Tensor) or not first.dim():
        return {}
    sizes = {"head_dim": int(first.shape[-1])}
    if "num_heads" in entry.arguments and isinstance(args[1], int) and args[1]:
        sizes = {"embed_dim": int(first.shape[-1]), "num_heads": args[1]}
    elif entry.arguments == ["x"] and first.dim() == 4:
        sizes["num_heads"] = int(first.shape[1])
    return sizes


def _places(call: tuple[list[Any], dict[str, Any]], wanted: Sequence[Any]) -> list[str]:
    """Return where the differentiated arguments stand in a bound call: index or keyword."""
    places = []
    for value in wanted:
        by_index = [str(i) for i, item in enumerate(call[0]) if item is value]
        by_name = [key for key, item in call[1].items() if item is value]
        places.append((by_index + by_name)[0])
    return places


class Function(_Target):
    """A function of the contract; the candidate may have written it as a class."""

    def __init__(self, candidate: Candidate, entry: Entry, found: Found) -> None:
        super().__init__(candidate, entry)
        self._found = found
        self._made: dict[tuple[int, int], int] = {}

    def _where(self, args: Sequence[Any]) -> tuple[str | int, Any]:
        definition = self._found.definition
        if definition.kind != "class":
            return self._found.name, definition.call
        sizes = _sizes(self.entry, args)
        key = (self._candidate.session.generation, sizes.get("head_dim", 0))
        if key not in self._made:
            call = bind(f"`{self._found.name}()`", definition.constructor, {}, extras_for(sizes))
            made = self._candidate.session.request("new", call, name=self._found.name)
            self._made = {(self._candidate.session.generation, key[1]): made.handle}
        return self._made[self._candidate.session.generation, key[1]], definition.call

    def _references(self) -> tuple[Callable[..., Any], Callable[..., Any]]:
        reference = getattr(self._candidate.reference, self.entry.name)
        return reference, reference

    def _what(self) -> str:
        return f"`{self._found.name}`"


class ModuleEntry:
    """A class of the contract: called with the constructor's arguments it makes a layer."""

    def __init__(self, candidate: Candidate, entry: Entry, found: Found) -> None:
        self.candidate = candidate
        self.entry = entry
        self.found = found
        self.chosen: tuple[str, ...] | None = None

    def __call__(self, dtype: torch.dtype = torch.float32, **sizes: int) -> Layer:
        """Make a layer, with weights drawn for it and bound to its parameters."""
        if self.chosen is None:
            self._choose()
        layer = Layer(self, sizes, dtype)
        layer.bind_first(self.chosen)
        return layer

    def attempt(self, *sizes: int) -> None:
        """Make a layer that the contract rules out, and call it if that did not raise."""
        named = dict(zip(self.entry.constructor, sizes, strict=True))
        handle, _ = self.make(named)
        self._call_once(handle, named)

    def make(self, sizes: Mapping[str, int]) -> tuple[int, list[ParameterInfo]]:
        """Return handle and parameters of a new instance in the worker."""
        session = self.candidate.session
        call = bind(
            f"`{self.found.name}(…)`", self.found.definition.constructor, sizes, extras_for(sizes)
        )
        self.bind_call([torch.ones(1)] * len(_probe_shapes(self.entry, sizes)), sizes)
        made: Made = session.request("new", call, name=self.found.name)
        handle, parameters = made.handle, made.parameters
        if any(parameter.shape is None for parameter in parameters):  # lazy: a call gives shapes
            self._call_once(handle, sizes)
            parameters = session.request("parameters", handle=handle).parameters
        return handle, parameters

    def _call_once(self, handle: int, sizes: Mapping[str, int]) -> None:
        """Call an instance with input of the probe's shape, whatever it returns."""
        shapes = _probe_shapes(self.entry, sizes)
        inputs = [torch.ones(shape) for shape in shapes]
        call = self.bind_call(inputs, sizes)
        self.candidate.session.request("call", (*call, None), target=handle)

    def bind_call(
        self, args: Sequence[Any], sizes: Mapping[str, int]
    ) -> tuple[list[Any], dict[str, Any]]:
        """Return the bound arguments of a call; those of the contract that are missing are None."""
        names = self.entry.arguments
        values = dict(zip(names, [*args, *[None] * (len(names) - len(args))], strict=True))
        what = f"`{self.found.name}` when called"
        return bind(what, self.found.definition.call, values, extras_for(sizes))

    def _reproduces(self, layer: Layer, args: Sequence[Tensor]) -> bool:
        """Return whether a layer gives what the reference gives; a dead worker is no answer."""
        try:
            assert_close(layer(*args), *self.entry.returns[: self.entry.required_returns])
        except CheckFailure as failure:
            if failure.outcome in (Outcome.TIMEOUT, Outcome.CRASHED):
                raise
            return False
        return True

    def _choose(self) -> None:
        """Find the arrangement of weights that reproduces the reference on one input."""
        assert self.entry.probe is not None
        layer = Layer(self, self.entry.probe.constructor, torch.float32)
        choices = layer.choices()
        self.chosen = choices[0].key
        if len(choices) == 1:
            return
        args = [layer.draw.normal(*shape) for shape in self.entry.probe.inputs]
        for choice in choices:
            layer.bind(choice)
            if not self._reproduces(layer, args):
                continue
            self.chosen = choice.key
            self.candidate.note(
                f"weights bound by {', '.join(part for part in choice.key if part)}"
            )
            return
        self.candidate.note(
            "no arrangement of the weights reproduces the reference; "
            f"bound by {', '.join(part for part in self.chosen if part)}"
        )


def _probe_shapes(entry: Entry, sizes: Mapping[str, int]) -> list[list[int]]:
    """Return the probe's shapes for other constructor arguments: the last axis is the width."""
    assert entry.probe is not None
    width = entry.probe.constructor.get("embed_dim", 0)
    swap = {width: sizes.get("embed_dim", width)}
    return [[*shape[:-1], swap.get(shape[-1], shape[-1])] for shape in entry.probe.inputs]


def _in_common(one: Sequence[str], other: Sequence[str]) -> int:
    """Return how many choices two arrangements share; `max` takes the first of equals."""
    return sum(a == b for a, b in zip(one, other, strict=False))


class Layer(_Target):
    """An instance of the candidate's class, and the reference with the same weights."""

    def __init__(self, maker: ModuleEntry, sizes: Mapping[str, int], dtype: torch.dtype) -> None:
        super().__init__(maker.candidate, maker.entry)
        self._maker = maker
        self.sizes = dict(sizes)
        self.dtype = dtype
        self.draw = maker.candidate.draw_weights()
        # Constructing draws from the global stream; the weights are drawn again right below.
        cls = getattr(maker.candidate.reference, maker.entry.name)
        self._exact = cls(**sizes).double().eval()
        self._rounded = cls(**sizes).to(dtype).eval()
        self._handle, self.parameters = maker.make(sizes)
        self.generation = maker.candidate.session.generation
        self._roles = self._draw_roles()
        self.arrangement: Arrangement | None = None

    @property
    def parameter_count(self) -> int:
        """Numbers in all parameters of the candidate's layer."""
        return sum(int(torch.Size(p.shape or []).numel()) for p in self.parameters)

    @property
    def contract_parameters(self) -> tuple[int, int]:
        """Numbers in the weights, and in the biases, that the contract has."""
        return (
            sum(role.weight.numel() for role in self._roles),
            sum(role.bias.numel() for role in self._roles),
        )

    def choices(self) -> list[Arrangement]:
        return arrangements(self.parameters, self._roles)

    def bind_first(self, key: tuple[str, ...] | None) -> None:
        """Bind the arrangement of this key, else the one nearest to it."""
        wanted = key or ()
        self.bind(max(self.choices(), key=lambda choice: _in_common(choice.key, wanted)))

    def bind(self, arrangement: Arrangement) -> None:
        """Copy one arrangement's numbers into the candidate's layer and into the references."""
        self.arrangement = arrangement
        values = {path: value.to(self.dtype) for path, value in arrangement.values.items()}
        dtype = str(self.dtype).removeprefix("torch.")
        self._candidate.session.request("set_parameters", values, handle=self._handle, dtype=dtype)
        with torch.no_grad():
            for role, weights in zip(self.entry.roles, self._roles, strict=True):
                bias = weights.bias if role.name in arrangement.biased else weights.bias * 0
                for model in (self._exact, self._rounded):
                    linear = model.get_submodule(role.reference)
                    linear.weight.copy_(weights.weight.to(self.dtype))
                    linear.bias.copy_(bias.to(self.dtype))

    def train(self, training: bool) -> None:
        """Put the candidate's layer into training or evaluation mode."""
        self._candidate.session.request("mode", handle=self._handle, training=training)

    def twin(self) -> Layer:
        """Return another instance with the same weights."""
        twin = Layer(self._maker, self.sizes, self.dtype)
        twin._roles = self._roles
        twin.bind_first(self._maker.chosen)
        return twin

    def read(self, value: Live) -> Any:
        """Return a live object as it stands now."""
        found = self._candidate.session.request("fetch", [value.kept]).value
        if not isinstance(found, list) or len(found) != 1:
            raise Crashed("the worker's answer lacks a kept value")
        return found[0]

    def _draw_roles(self) -> list[RoleWeights]:
        drawn = []
        for role in self.entry.roles:
            linear = self._exact.get_submodule(role.reference)
            out, in_ = linear.weight.shape
            weight = self.draw.normal(out, in_, dtype=torch.float64) / in_**0.5
            bias = _BIAS_SCALE * self.draw.normal(out, dtype=torch.float64)
            heads = self.sizes[role.heads]
            drawn.append(
                RoleWeights(
                    role.name,
                    weight.to(self.dtype).double(),
                    bias.to(self.dtype).double(),
                    heads,
                    role.split,
                )
            )
        return drawn

    def _where(self, args: Sequence[Any]) -> tuple[str | int, Any]:
        if self.generation != self._candidate.session.generation:
            raise Crashed("the layer is gone: the process ended in an earlier call of this check")
        return self._handle, self._maker.found.definition.call

    def _references(self) -> tuple[Callable[..., Any], Callable[..., Any]]:
        return self._exact, self._rounded

    def _what(self) -> str:
        return f"`{self._maker.found.name}` when called"

    def _parameters_of_references(self) -> tuple[dict[str, Tensor], dict[str, Tensor]]:
        def of(model: torch.nn.Module) -> dict[str, Tensor]:
            linears = {role.name: model.get_submodule(role.reference) for role in self.entry.roles}
            return {
                f"{name}.{kind}": getattr(linear, kind)
                for name, linear in linears.items()
                for kind in ("weight", "bias")
            }

        return of(self._exact), of(self._rounded)

    def _parameter_gradients(
        self, found: Mapping[str, Tensor | None], wanted: Mapping[str, Expected]
    ) -> list[tuple[str, Tensor | None, Expected]]:
        """Return a row for each bound parameter, its gradient laid out as its numbers are."""
        if not self._maker.found.definition.module or self.arrangement is None:
            return []  # an ordinary class need not be trainable
        exact = self._arranged({name: one.exact for name, one in wanted.items()})
        rounded = self._arranged({name: one.rounded for name, one in wanted.items()})
        any_row = next(iter(wanted.values()))
        return [
            (
                f"the parameter {path}",
                found.get(path),
                Expected(exact[path], rounded[path], any_row.largest_logit, any_row.scale),
            )
            for path in self.arrangement.values
        ]

    def _arranged(self, gradients: Mapping[str, Tensor]) -> Mapping[str, Tensor]:
        """Return the gradients of the roles as gradients of the candidate's parameters."""
        roles = [
            replace(
                role,
                weight=gradients[f"{role.name}.weight"],
                bias=gradients[f"{role.name}.bias"],
            )
            for role in self._roles
        ]
        assert self.arrangement is not None
        key = self.arrangement.key
        return next(a.values for a in arrangements(self.parameters, roles) if a.key == key)


class Answers:
    """A candidate's dictionary of formulas."""

    def __init__(self, candidate: Candidate, entry: Entry) -> None:
        self._candidate = candidate
        self.entry = entry
        self._values: dict[Any, Any] | None = None

    def get(self, key: str) -> Any:
        """Return one answer.

        Raises:
            CheckFailure: If it is missing, or ANSWERS is not a dict.
        """
        if self._values is None:
            value = self._candidate.session.request("read", name=self.entry.name).value
            if not isinstance(value, dict):
                raise CheckFailure(f"`{self.entry.name}` is {describe(value)}; a dict is wanted")
            self._values = value
        if key not in self._values:
            raise CheckFailure(f"`{self.entry.name}` has no answer to {key!r}")
        return self._values[key]


class Candidate:
    """The entries of a problem, as attributes by their names in the contract."""

    def __init__(
        self, session: Session, problem: Problem, reference: Any, seed: int, source: str
    ) -> None:
        self.session = session
        self.problem = problem
        self.reference = reference
        self.source = source
        self.notes: list[str] = []
        self._seed = seed
        self._check = ""
        self._layers = 0
        self._entries: dict[str, Function | ModuleEntry | Answers] = {}

    def enter(self, check: str) -> None:
        """Note which check runs: weights are drawn for it alone."""
        self._check = check
        self._layers = 0

    def draw_weights(self) -> Draw:
        self._layers += 1
        return Draw(self._seed, f"{self._check} weights {self._layers}")

    def note(self, text: str) -> None:
        if text not in self.notes:
            self.notes.append(text)

    def __getattr__(self, name: str) -> Any:
        """Return the proxy of an entry.

        Raises:
            CheckFailure: If the file has no such entry.
        """
        entry = None if name.startswith("_") else self.problem.entry_named(name)
        if entry is None:
            raise AttributeError(f"the problem {self.problem.id} has no entry {name!r}")
        if name not in self._entries:
            self._entries[name] = self._make(entry)
        return self._entries[name]

    def _make(self, entry: Entry) -> Function | ModuleEntry | Answers:
        found = find_entry(entry, self.session.definitions)
        if found.name != entry.name:
            self.note(f"`{found.name}` is taken for `{entry.name}`")
        if entry.kind == "answers":
            return Answers(self, entry)
        return (ModuleEntry if entry.kind == "module" else Function)(self, entry, found)


__all__ = ["Answer", "Answers", "Candidate", "Function", "Layer", "ModuleEntry", "Raised", "leaves"]
