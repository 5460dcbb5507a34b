"""A layer made by the candidate's class, and the reference with the same weights."""

from __future__ import annotations

import contextlib
import copy
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, lru_cache
from typing import Any

import torch
from torch import Tensor

from mha_judge.bank.problem import Role
from mha_judge.errors import BankError
from mha_judge.grading.binding.described import ParameterInfo
from mha_judge.grading.binding.maps import RoleWeights, names_of
from mha_judge.grading.binding.numbering import numbered, placed
from mha_judge.grading.binding.roles import said_of
from mha_judge.grading.binding.weights import Arrangement, Unbound, arrangements, nearest
from mha_judge.grading.calling.maker import Maker
from mha_judge.grading.calling.target import Target
from mha_judge.grading.calling.trace import Step
from mha_judge.grading.expecting.arrays import as_tensors, make_layer
from mha_judge.grading.expecting.compare import dtype_name
from mha_judge.grading.expecting.expected import Expected, Live, leaves
from mha_judge.grading.expecting.memory import key_of, number_of
from mha_judge.grading.failures import CheckFailure, Crashed
from mha_judge.outcomes import Outcome
from mha_judge.wire.operations import Operation

_BIAS_SCALE = 0.3
_STEPS = 2**20
"""In 1, of weights: 53 bits hold the sum of thousands of their squares."""
_WITHOUT_SPARE = "what it needs"


class Layer(Target):
    """An instance of the candidate's class, and the reference with the same weights."""

    def __init__(self, maker: Maker, sizes: Mapping[str, Any], dtype: torch.dtype) -> None:
        super().__init__(maker.context, maker.entry)
        self.maker = maker
        self.sizes = dict(sizes)
        self.dtype = dtype
        self.draw = maker.context.draw_weights()
        task, name, given = maker.context.task, maker.entry.name, tuple(self.sizes.items())
        self._contract = _parameters_of(getattr(task.reference, name), given)
        mistaken: Mapping[str, Tensor] = {}
        if task.expected is not task.reference:
            mistaken = _parameters_of_mistake(getattr(task.expected, name, None), given)
        self._expected = {**self._contract, **_in_other_shapes(self._contract, mistaken)}
        """Those of the contract; in another shape where a mistake that counts as right has one."""
        self._dispensable = [r for r in self.entry.roles if mistaken and _is_missing(mistaken, r)]
        """The roles that such a mistake has no weights for."""
        self._handle, self.parameters = maker.make(sizes)
        self.generation = maker.context.session.generation
        self._roles = self._draw_roles()
        self.parameters = self._of_contract()
        self.arrangement: Arrangement | None = None
        self.training = False
        self._held: Mapping[str, Tensor] = {}
        """What the candidate's layer holds, by path."""
        self._redraws = 0
        self._weights: bytes | None = None
        """A hash of the weights that are bound."""
        self._stale = False
        """Whether the references hold other weights than those that are bound."""

    @property
    def is_usable(self) -> bool:
        """Whether the layer's process still lives, and dropout is off."""
        return self.generation == self._context.session.generation and not self.training

    @property
    def parameter_count(self) -> int:
        """Numbers in all parameters of the candidate's layer, each array counted once.

        An array that need not be a weight counts only if it is bound.
        """
        assert self.arrangement is not None
        bound, aliases = self.arrangement.values, self.arrangement.aliases
        own = [p for p in self.parameters if p.path not in aliases]
        if any(p.plain and p.path not in bound for p in own):
            own = [p for p in own if p.path in bound or p.path not in self.maker.spare]
        return sum(int(torch.Size(p.shape or []).numel()) for p in own)

    @property
    def contract_parameters(self) -> tuple[int, int]:
        """Numbers in the weights, and in the biases, that the contract has."""
        return (
            sum(role.weight.numel() for role in self._roles),
            sum(role.bias.numel() for role in self._roles),
        )

    def weights(self) -> list[tuple[str, Tensor]]:
        """Return the weights that are bound, and the biases, by what the contract calls them."""
        assert self.arrangement is not None
        found = []
        for role in self._roles:
            found.append((role.id, role.weight.to(self.dtype)))
            if role.id in self.arrangement.biased:
                found.append((f"{role.id} bias", role.bias.to(self.dtype)))
        return found

    def choices(self, wanted: Sequence[str] = ()) -> Iterator[Arrangement]:
        """Yield arrangements of all parameters, then only of those that must be weights.

        If neither fits, roles may be missing that a mistake which counts as right does not have.
        Their values are positions among the numbers of the roles.
        """
        unbound: Unbound | None = None
        words, roles = self._context.task.vocabulary, numbered(self._roles)
        if _WITHOUT_SPARE not in wanted:
            try:
                yield from arrangements(self.parameters, roles, words, wanted)
            except Unbound as error:
                unbound = error
        if _WITHOUT_SPARE in wanted or not wanted:
            needed = self.parameters
            if any(one.plain for one in needed):
                needed = [one for one in needed if one.path not in self.maker.spare]
            if len(needed) < len(self.parameters):
                with contextlib.suppress(Unbound):
                    for found in arrangements(needed, roles, words, wanted):
                        unbound = None
                        yield replace(found, key=(_WITHOUT_SPARE, *found.key))
        if unbound is None:
            return
        if not self._dispensable:
            raise unbound
        both = zip(roles, self.entry.roles, strict=True)
        roles = [one for one, role in both if role not in self._dispensable]
        yield from arrangements(self.parameters, roles, words, wanted)

    def bind_first(self, key: tuple[str, ...] | None) -> None:
        """Bind the arrangement of this key, else the one nearest to it."""
        wanted = key or ()
        shapes = tuple((one.path, tuple(one.shape or ())) for one in self.parameters)
        form = (wanted, tuple(self.sizes.items()), shapes)
        if form not in self.maker.arranged:
            found = nearest(self.choices(wanted), wanted)
            places = {path: one.long() for path, one in found.values.items()}
            self.maker.arranged[form] = replace(found, values=places)
        self.bind(self.maker.arranged[form])

    def bind(self, arrangement: Arrangement) -> None:
        """Copy one arrangement's numbers into the candidate's layer and into the references.

        Arrays that already hold these numbers are not set, as when a user sets a single bias.
        """
        self.arrangement = arrangement
        values, held = placed(arrangement.values, self._roles, self.dtype), self._held
        self._held = values
        if not arrangement.aliases and values.keys() == held.keys():
            values = {path: new for path, new in values.items() if not torch.equal(new, held[path])}
        if not self._is_gone:  # else the next call says so
            self._context.session.put_off(
                Operation.SET_PARAMETERS,
                values,
                handle=self._handle,
                dtype=dtype_name(self.dtype),
                aliases=dict(arrangement.aliases),
                in_place=self._redraws > 0 and self._redraws % 2 == 0,
                elsewhere=self._redraws % 2 == 1,
            )
        biased = arrangement.biased
        self._weights = key_of([[w.weight, w.bias, w.id in biased] for w in self._roles])
        self._stale = True

    @cached_property
    def _references(self) -> tuple[torch.nn.Module, torch.nn.Module]:
        """The references, made only if an expected result is not in memory."""
        expected = getattr(self._context.task.expected, self.entry.name)
        exact = make_layer(expected, self.sizes, torch.float64)
        return exact, make_layer(expected, self.sizes, self.dtype)

    def _copy_weights(self) -> None:
        """Copy the weights that are bound into the references."""
        assert self.arrangement is not None
        for model in self._references:
            own = dict(model.named_parameters())
            for role, weights in zip(self.entry.roles, self._roles, strict=True):
                bias = weights.bias if role.id in self.arrangement.biased else weights.bias * 0
                parts = zip(_parts(own, role), (weights.weight, bias), strict=True)
                for part, numbers in parts:
                    if part is not None and part.shape == numbers.shape:
                        part.copy_(numbers.to(self.dtype))

    def says(self, parameter: ParameterInfo) -> tuple[str | None, bool]:
        """Return the role that a parameter's name says, and whether it says a bias."""
        return said_of(parameter.path, self._context.task.vocabulary, names_of(self._roles))

    def reads(self, parameter: ParameterInfo, args: Sequence[Tensor]) -> bool:
        """Return whether a call's result depends on an array; spoils the layer.

        The array is filled with NaN; if the call then raises or gives NaN, it does.
        """
        words = self._context.task.vocabulary
        with contextlib.suppress(Unbound):  # its first weights will do
            self.bind(next(arrangements(self.parameters, numbered(self._roles), words)))
        self._held = {}
        numbers = torch.full(parameter.shape or [], torch.nan)
        try:
            self._context.session.request(
                Operation.SET_PARAMETERS,
                {parameter.path: numbers},
                handle=self._handle,
                dtype=dtype_name(self.dtype),
                aliases={},
                in_place=False,
                elsewhere=False,
            )
            answer = leaves(as_tensors(self.attempt(*args)))
        except CheckFailure as failure:
            if failure.outcome in (Outcome.TIMEOUT, Outcome.CRASHED):
                raise
            return True
        return any(bool(one.isnan().any()) for one in answer if isinstance(one, Tensor))

    def train(self, training: bool) -> None:
        """Put the candidate's layer into training or evaluation mode."""
        self._context.session.request(Operation.MODE, handle=self._handle, training=training)
        self.training = training

    def as_it_is(self) -> Layer:
        kept = copy.copy(self)  # with its weights: a layer that gets others changes none in place
        kept.__dict__.pop("_references", None)
        kept._stale = True
        return kept

    def redraw(self) -> None:
        """Give the same instance other weights, as an optimiser's step does.

        Arrays are replaced, or the memory of torch's parameters, and the next time written into.
        """
        self._redraws += 1
        self._roles = self._draw_roles()
        self.bind_first(self.maker.chosen)

    def redraw_one(self, role: int, *, bias: bool, elsewhere: bool) -> None:
        """Give the weight or the bias of one role other numbers, in other memory or where it is."""
        self._redraws = 1 if elsewhere else 2
        new, old = self._drawn(self.entry.roles[role]), self._roles[role]
        self._put(role, replace(old, bias=new.bias) if bias else replace(old, weight=new.weight))

    def _put(self, role: int, weights: RoleWeights) -> None:
        self._roles = [*self._roles[:role], weights, *self._roles[role + 1 :]]
        self.bind_first(self.maker.chosen)

    def rolled(self) -> None:
        """Let each weight have its numbers in another order, so that sum and norm stay the same."""
        self._redraws += 1
        self._roles = [replace(role, weight=role.weight.roll(1, 0)) for role in self._roles]
        self.bind_first(self.maker.chosen)

    def with_one_times(self, factor: float, role: int) -> None:
        """Multiply the weight of one role."""
        old = self._roles[role]
        self._put(role, replace(old, weight=factor * old.weight))

    def without_biases(self) -> Layer:
        """Set every bias to zero, so that a position of zeros has scores of exactly 0."""
        self._roles = [replace(role, bias=torch.zeros_like(role.bias)) for role in self._roles]
        self.bind_first(self.maker.chosen)
        return self

    @property
    def has_square_maps(self) -> bool:
        """Whether a weight has as many rows as columns."""
        return any(_is_square(role.weight) for role in self._roles)

    def with_identities(self) -> None:
        """Make every square weight the identity, as a map starts that changes nothing at first."""
        self._roles = [
            replace(role, weight=torch.eye(len(role.weight), dtype=role.weight.dtype))
            if _is_square(role.weight)
            else role
            for role in self._roles
        ]
        self.bind_first(self.maker.chosen)

    def far_from_zero(self, size: float) -> None:
        """Add a number to every bias of the maps that merge heads, so that norms take large means.

        Args:
            size: The number. Where the contract has no bias, the candidate's own stays zero.
        """
        self._shift([size if role.split == "in" else 0.0 for role in self.entry.roles])

    def with_low_scores(self, size: float) -> None:
        """Let the biases of queries and keys lower every score.

        Args:
            size: By how much, about.
        """
        shifts = []
        for role, holder in zip(self.entry.roles, self._roles, strict=True):
            root = (size / (len(holder.weight) // holder.heads) ** 0.5) ** 0.5
            shifts.append({"q": root, "k": -root}.get(role.name, 0.0))
        self._shift(shifts)

    def _shift(self, sizes: Sequence[float]) -> None:
        """Add a number to each bias that the contract has."""
        both = zip(self.entry.roles, self._roles, sizes, strict=True)
        self._roles = [
            replace(holder, bias=holder.bias + size)
            if size and held(self._contract, role)[1] is not None
            else holder
            for role, holder, size in both
        ]
        self.bind_first(self.maker.chosen)

    def like(self, dtype: torch.dtype | None = None, **sizes: Any) -> Layer:
        """Return another layer with weights of its own, with other sizes or another dtype."""
        other = Layer(self.maker, {**self.sizes, **sizes}, dtype or self.dtype)
        other.bind_first(self.maker.chosen)
        return other

    def twin(self) -> Layer:
        """Return another instance with the same weights."""
        twin = Layer(self.maker, self.sizes, self.dtype)
        twin._roles = self._roles
        twin.bind_first(self.maker.chosen)
        return twin

    def read(self, value: Live) -> Any:
        """Return what a live object holds now."""
        found = self._context.session.request(Operation.FETCH, [value.kept]).value
        if not isinstance(found, list) or len(found) != 1:
            raise Crashed("the worker's answer lacks a kept value")
        self._context.trace.note(Step(self, (value,), options={"read": True}, found=found[0]))
        return found[0]

    def _of_contract(self) -> list[ParameterInfo]:
        """Return the parameters to bind; of a NumPy class with the contract's names, only those.

        These attributes are set from outside, whatever they hold at first; of their shape, an axis
        for the heads is kept. Vectors may be biases; other arrays, such as gradients, are left out.
        """
        found = {one.path: one for one in self.parameters}
        references = [role.reference for role in self.entry.roles]
        if self.entry.arrays != "numpy" or not all(path in found for path in references):
            return [one for one in self.parameters if not one.bare]
        set_ = [
            ParameterInfo(path=path, shape=_shape(found[path], role.weight), owner="")
            for path, role in zip(references, self._roles, strict=True)
        ]
        vectors = [
            one
            for one in self.parameters
            if one.path not in references and sum(size != 1 for size in one.shape or [2, 2]) < 2
        ]
        return [*set_, *vectors]

    def _draw_roles(self) -> list[RoleWeights]:
        return [self._drawn(role) for role in self.entry.roles]

    def _drawn(self, role: Role) -> RoleWeights:
        own = held(self._expected, role)
        weight, bias = own[0].shape, None if own[1] is None else own[1].shape
        heads = role.heads if isinstance(role.heads, int) else int(self.sizes[role.heads])
        if weight != held(self._contract, role)[0].shape:
            heads = 1  # nobody says how they lie in it
        numbers = self.draw.normal(*weight, dtype=torch.float64)
        if role.kind == "norm":
            numbers = 1 + _BIAS_SCALE * numbers
            numbers[1:2] = 0  # an answer may divide by it
        else:
            numbers /= weight[-1 if role.kind == "table" else 1] ** 0.5
        shift = torch.zeros(weight[0], dtype=torch.float64)
        if bias is not None:
            shift = _BIAS_SCALE * self.draw.normal(*bias, dtype=torch.float64)
        return RoleWeights(
            role.name,
            self._as_held(numbers),
            self._as_held(shift),
            heads,
            role.split,
            role.kind,
            role.group,
            tuple(role.names),
        )

    def _as_held(self, numbers: Tensor) -> Tensor:
        """Return weights as the layer's dtype holds them, in float64.

        Below float64 their squares add up exactly there, in whatever order they are.
        """
        if self.dtype is not torch.float64:
            numbers = numbers.mul(_STEPS).round_().div_(_STEPS)
        return numbers.to(self.dtype).double()

    @property
    def _is_gone(self) -> bool:
        """Whether the process that held it has ended."""
        return self.generation != self._context.session.generation

    def _where(self, args: Sequence[Any]) -> tuple[str | int, Any]:
        if self._is_gone:
            raise Crashed("the layer is gone: the process ended in an earlier call of this check")
        return self._handle, self.maker.found.definition.call

    def references(self) -> tuple[Callable[..., Any], Callable[..., Any]]:
        if self._stale:
            with torch.no_grad():
                self._copy_weights()
            self._stale = False
        return self._references

    def identity(self) -> Sequence[object] | None:
        if self._weights is None:
            return None
        program = getattr(self._context.task.expected, self.entry.name)
        return [number_of(program), self.sizes, self.dtype, self._weights]

    def _what(self) -> str:
        return f"`{self.maker.found.name}` when called"

    def _parameters_of_references(self) -> tuple[dict[str, Tensor], dict[str, Tensor]]:
        self.references()
        own: list[dict[str, Tensor]] = [dict(one.named_parameters()) for one in self._references]
        return own[0], own[1]

    def _parameter_gradients(
        self, found: Mapping[str, Tensor | None], wanted: Mapping[str, Expected]
    ) -> list[tuple[str, Tensor | None, Expected]]:
        """Return a row for each bound parameter, with gradients laid out as its numbers are."""
        if not self.maker.found.definition.module or self.arrangement is None:
            return []  # an ordinary class need not be trainable
        exact = self._arranged({name: one.exact for name, one in wanted.items()})
        rounded = self._arranged({name: one.rounded for name, one in wanted.items()})
        any_row = next(iter(wanted.values()))
        plain = {one.path for one in self.parameters if one.plain}  # nothing trains them
        known = [path for path in exact if path not in plain and not exact[path].isnan().any()]
        return [
            (
                f"the parameter {path}",
                found.get(path),
                Expected(exact[path], rounded[path], any_row.largest_logit, any_row.scale),
            )
            for path in known
        ]

    def _arranged(self, gradients: Mapping[str, Tensor]) -> Mapping[str, Tensor]:
        """Return the gradients of the roles as gradients of the candidate's parameters.

        Those of what the reference does not have are NaN.
        """
        roles = []
        for role, weights in zip(self.entry.roles, self._roles, strict=True):
            own = [_part(gradients.get(path), role) for path in _paths(gradients, role)]
            none = [torch.full_like(one, torch.nan) for one in (weights.weight, weights.bias)]
            weight, bias = (n if one is None else one for one, n in zip(own, none, strict=True))
            roles.append(replace(weights, weight=weight, bias=bias))
        assert self.arrangement is not None
        return placed(self.arrangement.values, roles, roles[0].weight.dtype)


@lru_cache(maxsize=512)
def _parameters_of(cls: Any, sizes: tuple[tuple[str, Any], ...]) -> Mapping[str, Tensor]:
    """Return parameters of a program's layer by path; only their shapes mean something."""
    return dict(make_layer(cls, dict(sizes), torch.float64).named_parameters())


def _parameters_of_mistake(cls: Any, sizes: tuple[tuple[str, Any], ...]) -> Mapping[str, Tensor]:
    """Return the parameters of a mistake's layer by path, if it can be made."""
    try:
        return _parameters_of(cls, sizes)
    except Exception:  # it may raise anything
        return {}


def _in_other_shapes(
    contract: Mapping[str, Tensor], mistaken: Mapping[str, Tensor]
) -> Mapping[str, Tensor]:
    """Return a mistake's parameters that stand in the place of the contract's."""
    both = contract.keys() & mistaken.keys()
    return {path: mistaken[path] for path in both if mistaken[path].dim() == contract[path].dim()}


def _is_missing(parameters: Mapping[str, Tensor], role: Role) -> bool:
    return _parts(parameters, role)[0] is None


def _is_square(weight: Tensor) -> bool:
    return weight.ndim == 2 and weight.shape[0] == weight.shape[1]


def _shape(found: ParameterInfo, weight: Tensor) -> list[int]:
    """Return the shape of an attribute's array, or (in, out) if it holds one number at most."""
    shape = found.shape or []
    return shape if torch.Size(shape).numel() > 1 else list(weight.T.shape)


def held(parameters: Mapping[str, Tensor], role: Role) -> tuple[Tensor, Tensor | None]:
    """Return a reference's weight and bias for a role; of a fused map, the role's part.

    Args:
        parameters: The reference's, by path.
        role: The role.
    """
    weight, bias = _parts(parameters, role)
    if weight is None:
        raise BankError(f"the reference has no weight at {role.reference!r}; correct the role")
    return weight, bias


def _parts(parameters: Mapping[str, Tensor], role: Role) -> tuple[Tensor | None, Tensor | None]:
    """Return a role's weight and bias, each None if it is missing."""
    weight, bias = (_part(parameters.get(path), role) for path in _paths(parameters, role))
    return weight, bias


def _paths(parameters: Collection[str], role: Role) -> tuple[str, str]:
    """Return the paths of a role's weight and bias in a reference."""
    if role.reference in parameters:
        return role.reference, ""
    return f"{role.reference}.weight", f"{role.reference}.bias"


def _part(tensor: Tensor | None, role: Role) -> Tensor | None:
    return tensor if tensor is None or role.parts == 1 else tensor.chunk(role.parts)[role.part]
