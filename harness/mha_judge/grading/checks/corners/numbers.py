"""The numbers that a question is asked with: scaled, with zeros, repeated, one object for two."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

from mha_judge.bank.problem import axes_of
from mha_judge.grading.calling.function import Function
from mha_judge.grading.calling.layer import Layer
from mha_judge.grading.calling.target import Wanted
from mha_judge.grading.checks.cases import Case
from mha_judge.grading.checks.corners.asking import Asking
from mha_judge.grading.checks.corners.masks import added
from mha_judge.grading.expecting.expected import Expected, leaves

_CONSTANT = 0.75
_LARGEST_WHOLE = 4
_LARGEST = 1e6
"""How many times larger than usual graded values get, and how many times smaller."""


def takes_q_and_k(case: Case) -> bool:
    return isinstance(case.target, Function) and {"q", "k"} <= {*case.target.entry.arguments}


def linear(case: Case) -> list[int]:
    """Return the inputs on which a result depends linearly, if values are one of them."""
    if "v" not in case.domain.shapes or case.is_half:
        return []
    names = case.target.entry.arguments
    return [index for index in case.shapes.numbers if names[index] in ("v", "grad_output")]


def of_keys(case: Case) -> list[int]:
    """Return the inputs that hold a value for each key."""
    names, given = case.target.entry.arguments, {*linear(case)} & {*with_positions(case)}
    return [index for index in given if names[index] == "v"]


def floating(case: Case) -> list[int]:
    """Return the inputs that may have gradients: numbers, and masks that are added to scores."""
    return sorted([*case.shapes.numbers, *added(case)])


def tensors_of(case: Case) -> list[Tensor]:
    """Return the tensors among the inputs, masks and parts of caches too, that have axes."""
    given = (one for one in leaves([*case.args]) if isinstance(one, Tensor))
    return [one for one in given if one.dim()]


def with_positions(case: Case) -> list[int]:
    """Return the inputs whose last axis but one has several positions."""
    given = case.shapes.numbers
    return [index for index, one in given.items() if one.dim() > 1 and one.shape[-2] > 1]


def changed(case: Case, args: Sequence[Any], how: str, asking: Asking, number: int) -> list[Any]:
    """Return the arguments with other numbers.

    Args:
        case: The question.
        args: Its arguments.
        how: `large` or `small` values; `zeros` at a position, or one that is `repeated`; `constant`
            numbers, in all inputs or in `one constant`, or `nothing` but zeros; a `zero start` or
            `zero end`; a `zero item`; `centred` ones, of which rows sum to zero; `rising` or
            `falling` from key to key; empty for the same.
        asking: Draws the numbers.
        number: Chooses the constant input, or the zero item.
    """
    made = [*args]
    if how in ("large", "small"):
        factor = _LARGEST if how == "large" else 1 / _LARGEST
        for index in linear(case):
            made[index] = factor * asking.like(args[index])
    elif how in ("rising", "falling"):
        for index in of_keys(case):
            factors = torch.logspace(0, math.log10(_LARGEST), args[index].shape[-2])
            factors = (factors if how == "rising" else factors.flip(0)).unsqueeze(-1)
            made[index] = args[index] * factors.to(args[index].dtype)
    elif how in ("constant", "nothing"):
        one = 1.0 + float(asking.draw.normal().abs()) if how == "constant" else 0.0
        for index in case.shapes.numbers:
            made[index] = torch.full_like(args[index], one)
    elif how == "one constant":
        given = may_be_constant(case, asking.by_hand)
        index = given[number % len(given)]
        made[index] = torch.full_like(args[index], _CONSTANT)
    elif how in ("zero start", "zero end"):
        for index in with_positions(case):
            made[index], half = args[index].clone(), args[index].shape[-2] // 2
            if half:
                made[index].narrow(-2, 0 if how == "zero start" else -half, half).zero_()
    elif how == "zero item":
        for index in of_items(case):
            made[index] = args[index].clone()
            made[index][number % len(args[index])].zero_()
    elif how == "centred":
        for index in case.shapes.numbers:
            if args[index].shape[-1] > 2:
                made[index] = centred(args[index])
    elif how:
        for index in with_positions(case):
            count = args[index].shape[-2]
            if count > (2 if how == "repeated" else 1):  # of two, all would be the same
                place = asking.draw.integer(0, count - 1)
                numbers = made[index] = args[index].clone()
                other = numbers.select(-2, (place + 1) % count)
                numbers.select(-2, place).copy_(other if how == "repeated" else 0 * other)
    return made


def centred(one: Tensor) -> Tensor:
    """Return small whole numbers of a tensor's shape, near its own, whose rows sum to exactly 0."""
    whole = (2 * one).round().clamp(-_LARGEST_WHOLE, _LARGEST_WHOLE)
    return torch.cat((whole[..., 1:], -whole[..., 1:].sum(-1, keepdim=True)), dim=-1)


def may_be_constant(case: Case, by_hand: bool) -> list[int]:
    """Return the inputs whose numbers may be equal while others differ.

    Args:
        case: The question.
        by_hand: Whether it asks for gradients, which are 0 where any other input is constant.
    """
    names = case.target.entry.arguments
    return [one for one in case.shapes.numbers if not by_hand or names[one].startswith("grad")]


def of_one_position(case: Case, args: Sequence[Any], number: int) -> list[Any]:
    """Return the arguments of which one input holds the same at each position."""
    made, given = [*args], with_positions(case)
    index = given[number % len(given)]
    made[index] = args[index][..., :1, :].expand_as(args[index]).contiguous()
    return made


def with_items(case: Case) -> list[int]:
    """Return the inputs, masks among them, that hold several items along their first axis."""
    given = {**case.shapes.numbers, **case.shapes.flags}
    return [index for index, one in given.items() if one.dim() > 2 and one.shape[0] > 1]


def of_items(case: Case) -> list[int]:
    """Return the inputs that hold numbers of several items, along their first axis."""
    leading = case.shapes.leading_axes()
    first = {index for index, axis in case.shapes.places("B") if axis == 0}
    first |= {index for index in case.shapes.numbers if leading.get(index)}
    return sorted(first & {*with_items(case)})


def alike_along(case: Case, args: Sequence[Any], axis: int, *, masks: bool) -> list[Any]:
    """Return the arguments with equal numbers along an axis, so that they may be expanded.

    Args:
        case: The question.
        args: Its arguments.
        axis: The axis.
        masks: Whether masks are alike, too; else they may tell equal items apart.
    """
    given = [index for index in with_items(case) if masks or index in case.shapes.numbers]
    return [alike_in(one, axis) if index in given else one for index, one in enumerate(args)]


def alike(case: Case) -> list[list[int]]:
    """Return groups of inputs that may be one object if their sizes are equal."""
    names = case.target.entry.arguments
    axes = {i: axes_of(case.domain.shapes[names[i]]) for i in case.shapes.numbers}
    groups: list[list[int]] = []
    for first, own in axes.items():
        same = [i for i, others in axes.items() if i >= first and len(others) == len(own)]
        same = [i for i in same if case.args[i].dim() == case.args[first].dim()]
        groups += [[first, second] for second in same[1:]]
        groups += [same] if len(same) > 2 else []
    return groups


def of_one_start(case: Case) -> list[list[int]]:
    """Return pairs of inputs that may begin at one place in memory, with other strides."""
    groups = [one for one in alike(case) if len(one) == 2]
    positions = with_positions(case)
    return [one for one in groups if {*one} <= {*positions}]


def with_one_start(args: Sequence[Any], pair: Sequence[int]) -> list[Any]:
    """Return the arguments of which the second has every other position of the first, and more.

    So it may be every other position of a longer tensor that begins with the first.
    """
    made = [*args]
    first, second = (args[index] for index in pair)
    shared = (first.shape[-2] + 1) // 2
    made[pair[1]] = torch.cat((first[..., ::2, :], second[..., shared:, :]), dim=-2)
    return made


def made_alike(case: Case, group: Sequence[int], letters: Mapping[str, int]) -> dict[str, int]:
    """Return the sizes with which all inputs of a group have the same shape."""
    if not group:
        return {}
    names, sizes = case.target.entry.arguments, {**case.shapes.letters, **letters}
    own = axes_of(case.domain.shapes[names[group[0]]])
    others = [axes_of(case.domain.shapes[names[index]]) for index in group]
    pairs = [pair for axes in others for pair in zip(axes, own, strict=True)]
    return {letter: sizes[other] for letter, other in pairs if letter in sizes}


def cotangents(
    case: Case, args: Sequence[Any], asking: Asking, through: Sequence[str]
) -> list[Tensor | None] | None:
    """Return cotangents of results; None if the reference refuses the call, or gives NaN.

    Args:
        case: The question.
        args: Its arguments.
        asking: Draws the numbers.
        through: The results that have one.
    """
    try:
        outputs = [*leaves(case.target.expected(args))]
    except Exception:  # the reference refuses it: it is outside the domain
        return None
    exact = [one.exact for one in outputs if isinstance(one, Expected)]
    if any(bool(one.isnan().any()) for one in exact):
        return None
    having = {*map(case.target.entry.returns.index, through)}
    return [
        asking.like(one.to(case.dtype)) if number in having else None
        for number, one in enumerate(exact)
    ]


def wanted(
    case: Case,
    args: Sequence[Any],
    asking: Asking,
    wrt: Sequence[int],
    manner: Mapping[str, Any],
    through: Sequence[str],
) -> Wanted | None:
    """Return which gradients are asked for with a call; None if there are none.

    Args:
        case: The question.
        args: Its arguments.
        asking: Draws the cotangents.
        wrt: The inputs whose gradients checks ask for.
        manner: Which inputs are leaves, and which parameters are frozen.
        through: The results through which gradients come.
    """
    wants = cotangents(case, args, asking, through)
    given = [index for index in floating(case) if index in wrt]
    number = manner.get("number", 0)
    chosen = given[number % len(given)] if given else None
    leaf = manner.get("leaf")
    if leaf == "none":
        given = []
    elif leaf == "one" or (leaf == "all but one" and len(given) > 1):
        given = [one for one in given if (one == chosen) is (leaf == "one")]
    learns = isinstance(case.target, Layer) and manner.get("frozen") != "yes"
    if wants is None or not (given or learns):
        return None
    return Wanted(tuple(given), wants, learns, manner.get("frozen", ""), number)


def with_cotangents(wanted: Wanted | None, change: Callable[[Tensor], Tensor]) -> Wanted | None:
    """Return the same gradients with other cotangents; one of a single number stays."""
    if wanted is None:
        return None
    made = [one if one is None or not one.dim() else change(one) for one in wanted.cotangents]
    return wanted._replace(cotangents=made)


def alike_in(one: Tensor, axis: int) -> Tensor:
    """Return a tensor that holds its first numbers all along an axis."""
    return one.narrow(axis, 0, 1).expand_as(one).contiguous()
