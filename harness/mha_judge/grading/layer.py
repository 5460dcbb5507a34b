"""A layer made by the candidate's class, and the reference with the same weights."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from mha_judge.grading.expected import Expected, Live
from mha_judge.grading.failures import Crashed
from mha_judge.grading.target import Target
from mha_judge.grading.trace import Step
from mha_judge.grading.weights import Arrangement, RoleWeights, arrangements

if TYPE_CHECKING:
    from mha_judge.grading.module import ModuleEntry

_BIAS_SCALE = 0.3


class Layer(Target):
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
        self.training = False

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
        self.training = training

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
        self._candidate.trace.note(Step(self, (value,), options={"read": True}, found=found[0]))
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

    def references(self) -> tuple[Callable[..., Any], Callable[..., Any]]:
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


def _in_common(one: Sequence[str], other: Sequence[str]) -> int:
    """Return how many choices two arrangements share; `max` takes the first of equals."""
    return sum(a == b for a, b in zip(one, other, strict=False))
