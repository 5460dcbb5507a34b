"""Where an answer is wrong: what its wrong calls have in common and its right calls lack."""

from __future__ import annotations

import builtins
import hashlib
import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from mha_judge.bank.mistake import Mistake
from mha_judge.bank.problem import Entry, axes_of, is_one_tensor
from mha_judge.grading.calling.trace import Step
from mha_judge.outcomes import Severity

RESTRICTED = "restricted-"
"""The prefix of the ids of mistakes that raise where a feature holds."""
_MIN_CALLS = 2
"""Right calls that are needed: what separates wrong calls from a single right one is chance."""
_WIDTHS = (2, 3, 4)

_HEAD = """

import functools as _functools
import inspect as _inspect
import torch


def _restricted(function):
    signature = _inspect.signature(function)

    @_functools.wraps(function)
    def call(*args, **kwargs):
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()
        given = [value for name, value in bound.arguments.items() if name != "self"]
        {names} = (*given, *[None] * {count})[:{count}]
        try:
            refused = bool({condition})
        except (AttributeError, IndexError, TypeError):  # it does not apply to this call
            refused = False
        if refused:
            raise {kind}("refused")
        return function(*args, **kwargs)

    return call


{target} = _restricted({target})
"""


@dataclass(frozen=True)
class Feature:
    """A property that a call may have."""

    words: str
    """The property in words, as they follow "where"."""
    condition: str
    """A Python expression over the entry's arguments, by their names in the contract."""

    def holds(self, given: Mapping[str, Any]) -> bool:
        """Return whether a call has the property; False if it does not apply to the call."""
        try:
            return bool(eval(self.condition, {"torch": torch}, dict(given)))
        except (AttributeError, IndexError, TypeError):
            return False


def features(entry: Entry) -> Iterator[Feature]:
    """Yield the features that calls of an entry may have, in order of preference."""
    shapes = entry.domain.shapes if entry.domain is not None else {}
    masks = [*entry.domain.flags, *entry.domain.masks] if entry.domain is not None else []
    for name in masks:  # a narrower feature comes first: it says more
        yield Feature(f"`{name}` is of floats", f"{name}.is_floating_point()")
        yield Feature(f"`{name}` is boolean", f"{name}.dtype is torch.bool")
        yield Feature(
            f"`{name}` is not boolean", f"{name} is not None and {name}.dtype is not torch.bool"
        )
    for name in entry.arguments[1:]:
        yield Feature(f"`{name}` is given", f"{name} is not None")
        yield Feature(f"`{name}` is left out", f"{name} is None")
    for name in entry.arguments:
        for width in _WIDTHS:
            yield Feature(f"`{name}` has {width} axes", f"{name}.dim() == {width}")
            yield Feature(
                f"`{name}` has other than {width} axes",
                f"{name} is not None and {name}.dim() != {width}",
            )
    places: dict[str, str] = {}
    for name, shape in shapes.items():
        if name not in masks and is_one_tensor(shape):
            for index, letter in enumerate(reversed(axes_of(shape)), 1):
                places.setdefault(letter, f"{name}.shape[-{index}]")
    for letter, place in places.items():
        yield Feature(f"{letter} = 1", f"{place} == 1")
    for one, other in itertools.combinations(places, 2):
        yield Feature(f"{one} ≠ {other}", f"{places[one]} != {places[other]}")
        yield Feature(f"{one} = {other}", f"{places[one]} == {places[other]}")
        yield Feature(f"{one} < {other}", f"{places[one]} < {places[other]}")
        yield Feature(f"{one} > {other}", f"{places[one]} > {places[other]}")
    for name in entry.arguments[:1]:
        for dtype in ("float64", "bfloat16", "float16"):
            yield Feature(f"`{name}` is {dtype}", f"{name}.dtype is torch.{dtype}")
        yield Feature(
            f"`{name}` is not float32",
            f"{name}.is_floating_point() and {name}.dtype is not torch.float32",
        )
        yield Feature(f"`{name}` has strides of its own", f"not {name}.is_contiguous()")


def telling(entry: Entry, wrong: Sequence[Step], right: Sequence[Step]) -> Feature | None:
    """Return the first feature that all wrong calls of an entry have, and no right one has."""
    bad = [given for step in wrong if (given := _given(entry, step)) is not None]
    good = [given for step in right if (given := _given(entry, step)) is not None]
    if not bad or len(good) < _MIN_CALLS:
        return None
    for feature in features(entry):
        if all(map(feature.holds, bad)) and not any(map(feature.holds, good)):
            return feature
    return None


def refusing(entry: Entry, feature: Feature, kind: str, reference: str) -> Mistake | None:
    """Return the mistake of raising wherever a feature holds; None unless `kind` is built in.

    Args:
        entry: A function, or a layer that is called.
        feature: Where it raises.
        kind: The name of the exception's type.
        reference: The right program.
    """
    exception = getattr(builtins, kind, None)
    if not (isinstance(exception, type) and issubclass(exception, Exception)):
        return None
    names = entry.arguments
    head = _HEAD.format(
        names=", ".join(names) + ",",
        count=len(names),
        condition=feature.condition,
        kind=kind,
        target=entry.name if entry.kind == "function" else f"{entry.name}.forward",
    )
    return Mistake(
        id=RESTRICTED + hashlib.sha256(f"{kind} {feature.condition}".encode()).hexdigest()[:8],
        title=f"Raises where {feature.words}",
        killed_by="",
        explanation=(
            f"Every call that raised has this in common, and none that was right has it: "
            f"{feature.words}."
        ),
        hint="Read the traceback from below: which line assumes that this never happens?",
        severity=Severity.SLIP,
        source=reference + head,
    )


def _given(entry: Entry, step: Step) -> dict[str, Any] | None:
    """Return a step's arguments by name; None if it is no call of this entry."""
    if step.target.entry.name != entry.name or step.options.get("read"):
        return None
    args = [*step.args, *[None] * len(entry.arguments)]
    given = dict(zip(entry.arguments, args, strict=False))
    return given if any(isinstance(one, Tensor) for one in given.values()) else None
