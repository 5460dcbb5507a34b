"""Binds the contract's arguments to the candidate's parameters, whatever their names.

Names that are recognised decide; all other arguments go by position.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mha_judge.bank.vocabulary import Vocabulary
from mha_judge.grading.binding.described import Parameter
from mha_judge.grading.failures import CheckFailure

_ALWAYS = ("head_dim", "out_dim", "input_width", "context_width")
"""Sizes that are passed even to a parameter with a default, which fits another width."""
_NEVER_BY_POSITION = ("mask", "cache")
_CONFIGURATIONS = ("config", "cfg", "args", "conf", "hparams", "opt", "params")

Call = tuple[list[Any], dict[str, Any]]


@dataclass(frozen=True)
class _Read:
    """A candidate's parameter, whose name is read with a vocabulary."""

    name: str
    kind: str
    required: bool
    words: Vocabulary

    def means(self, argument: str) -> bool:
        return self.words.means(self.name, argument)

    @property
    def extra(self) -> str | None:
        return self.words.extra(self.name)


class DoesNotFit(CheckFailure):
    """The candidate's parameters cannot take the contract's arguments."""

    def __init__(self, message: str, missing: Sequence[str] = ()) -> None:
        """Take a sentence, and the arguments that no parameter takes."""
        super().__init__(message)
        self.missing = tuple(missing)


def bind(
    what: str,
    signature: Sequence[Parameter] | None,
    values: Mapping[str, Any],
    extras: Mapping[str, Any],
    words: Vocabulary,
) -> Call:
    """Return positional and keyword arguments for one call.

    Arguments go to the parameters whose names are recognised; all others go to the remaining
    parameters in order.

    Args:
        what: What is called, for messages.
        signature: The candidate's parameters; None where they cannot be known.
        values: The contract's arguments in order; None may be left out.
        extras: Values for recognised parameters outside the contract.
        words: What candidates call the arguments.

    Raises:
        DoesNotFit: If the parameters cannot take the arguments.
    """
    if signature is None:
        return _leave_out_none(values), {}
    read = [_Read(one.name, one.kind, one.required, words) for one in signature]
    values = _as_query_key_value(read, values)
    call, left = _by_name(read, values)
    missing = _by_position(read, call, {name: values[name] for name in left}, values)
    if missing:
        raise DoesNotFit(_complaint(what, read, values, missing), missing)
    for parameter in read:
        if parameter.name not in call and (parameter.required or parameter.extra in _ALWAYS):
            call.update(_extra(what, parameter, read, extras))
    return _split(read, call)


def _leave_out_none(values: Mapping[str, Any]) -> list[Any]:
    items = list(values.values())
    while items and items[-1] is None:
        items.pop()
    return items


def _as_query_key_value(signature: Sequence[_Read], values: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the arguments with one sequence x given three times, if q, k and v are asked for.

    Self-attention written as `forward(query, key, value)` is called with x for each of them,
    cross-attention with the context for keys and values.
    """
    asked = [name for name in "qkv" if any(p.means(name) and p.required for p in signature)]
    if "x" not in values or len(asked) != 3:
        return values
    others = {name: v for name, v in values.items() if name not in ("x", "context")}
    context = values.get("context", values["x"])
    return {name: values["x"] if name == "q" else context for name in asked} | others


def _by_name(
    signature: Sequence[_Read], values: Mapping[str, Any]
) -> tuple[dict[str, Any], list[str]]:
    """Return the arguments whose parameters are recognised, and the names of the others."""
    call: dict[str, Any] = {}
    used: set[str] = set()
    places = list(values)
    meanings = {
        index: [name for name in places if parameter.means(name)]
        for index, parameter in enumerate(signature)
        if not parameter.kind.startswith("var_")
    }
    # `h` is heads or hidden states: names of one meaning come first, then positions decide
    for index in sorted(meanings, key=lambda index: len(meanings[index]) > 1):
        parameter, meant = signature[index], meanings[index]
        if parameter.name == "H":
            meant.sort(key=lambda name: name != "num_heads")  # h may be hidden states, H is not
        elif len(meant) > 1:
            meant.sort(key=lambda name: places.index(name) != index)
        argument = next((name for name in meant if name not in used), None)
        if argument is not None:
            used.add(argument)
            if values[argument] is not None or parameter.required:
                call[parameter.name] = values[argument]
        elif "embed_dim" in meant and parameter.required:
            call[parameter.name] = values["embed_dim"]  # (input_dim, embed_dim, num_heads)
    return call, [name for name in values if name not in used]


def _by_position(
    signature: Sequence[_Read],
    call: dict[str, Any],
    left: Mapping[str, Any],
    values: Mapping[str, Any],
) -> list[str]:
    """Give the arguments in `left` to the free parameters in order; return those without one.

    A parameter whose name says that it is something else (a mask, a dropout) is not free.
    """
    masks = [name for name in left if name.endswith("mask")]
    for parameter in signature:  # the contract's mask may have any name
        if masks and parameter.name not in call and parameter.means("mask"):
            name = masks.pop(0)
            if left[name] is not None or parameter.required:
                call[parameter.name] = left[name]
            left = {other: value for other, value in left.items() if other != name}
    free = [
        parameter
        for parameter in signature
        if parameter.name not in call
        and parameter.kind in ("positional_only", "positional_or_keyword")
        and not parameter.extra
        and not any(parameter.means(name) for name in (*values, *_NEVER_BY_POSITION))
    ]
    wanted = [name for name, value in left.items() if value is not None]
    if len(wanted) > len(free):  # `merge_heads(heads)`: a required parameter is no extra
        free = [
            parameter
            for parameter in signature
            if parameter.name not in call
            and (parameter in free or parameter.required)
            and parameter.kind in ("positional_only", "positional_or_keyword")
        ]
    wanted += [name for name, value in left.items() if value is None]
    for parameter, name in zip(free, wanted, strict=False):
        if left[name] is not None or parameter.required:
            call[parameter.name] = left[name]
    rest = [name for name in wanted[len(free) :] if left[name] is not None]
    if rest and any(parameter.kind == "var_positional" for parameter in signature):
        call["*"] = [left[name] for name in rest]
        return []
    return rest


def _extra(
    what: str,
    parameter: _Read,
    signature: Sequence[_Read],
    extras: Mapping[str, Any],
) -> dict[str, Any]:
    """Return the value of a parameter outside the contract; empty if its default will do."""
    if parameter.extra is not None and parameter.extra in extras:
        return {parameter.name: extras[parameter.extra]}
    if parameter.required and any(parameter.means(name) for name in _NEVER_BY_POSITION):
        return {parameter.name: None}
    if parameter.required and not parameter.kind.startswith("var_"):
        raise DoesNotFit(
            f"{what} takes ({_names(signature)}); "
            f"the contract has nothing to pass for `{parameter.name}`: give it a default"
        )
    return {}


def _split(signature: Sequence[_Read], call: dict[str, Any]) -> Call:
    """Pass positionally as long as there is no gap, by keyword after it."""
    args: list[Any] = []
    kwargs: dict[str, Any] = {}
    gap = False
    for parameter in signature:
        if parameter.name not in call:
            gap = gap or not parameter.kind.startswith("var_")
        elif gap or parameter.kind == "keyword_only":
            kwargs[parameter.name] = call[parameter.name]
        else:
            args.append(call[parameter.name])
    return [*args, *call.get("*", [])], kwargs


def _complaint(
    what: str,
    signature: Sequence[_Read],
    values: Mapping[str, Any],
    missing: Sequence[str],
) -> str:
    needed = ", ".join(name for name, value in values.items() if value is not None)
    listed = ", ".join(f"`{name}`" for name in missing)
    text = f"{what} takes ({_names(signature)}); the contract passes ({needed})"
    if any(parameter.name.lower() in _CONFIGURATIONS for parameter in signature):
        return f"{text}: take them as arguments of their own, not in one configuration object"
    if "k" in missing and any(parameter.means("x") for parameter in signature):
        return (
            f"{text}: one sequence is self-attention, but here keys come from `k`, values from `v`"
        )
    return f"{text}: no parameter is left for {listed}"


def _names(signature: Sequence[_Read]) -> str:
    return ", ".join(parameter.name for parameter in signature) or "no parameters"


def extras_for(sizes: Mapping[str, Any]) -> dict[str, Any]:
    """Return values for constructor parameters that lie outside the contract.

    Args:
        sizes: What is known: `embed_dim`, `num_heads`, `head_dim`, `context_dim`.
    """
    extras: dict[str, Any] = {
        "dropout": 0.0, "length": 4096, "bias": True, "nothing": None, "flag": False,
    }  # fmt: skip
    width, heads = sizes.get("embed_dim"), sizes.get("num_heads")
    head_dim = sizes.get("head_dim")
    if heads is not None:
        extras["heads"] = heads
    if width is not None:
        extras["out_dim"] = extras["input_width"] = width
        extras["context_width"] = sizes.get("context_dim", width)
        if heads:
            head_dim = width // heads
    if head_dim is not None:
        extras["head_dim"] = head_dim
        extras["temperature"] = math.sqrt(head_dim)
        extras["scale"] = 1 / math.sqrt(head_dim) if head_dim else 1.0
    return extras
