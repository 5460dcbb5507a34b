"""Long inputs: a few squares of positions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import torch
from torch import Tensor

from mha_judge.grading.calling.layer import Layer
from mha_judge.grading.checks.cases import Case, in_dtype
from mha_judge.grading.checks.corners.asking import (
    Asking,
    Finding,
    Later,
    Verdict,
    sizes_in_words,
    unmoved,
)
from mha_judge.grading.checks.corners.axes import DROPOUT
from mha_judge.grading.checks.corners.boundaries import across, looking
from mha_judge.grading.checks.corners.constants import near_constants
from mha_judge.grading.checks.corners.loud import louder, require_unmoved
from mha_judge.grading.checks.corners.masks import (
    axes_of_masks,
    blocked_keys,
    blocking,
    lengths_given,
)
from mha_judge.grading.checks.corners.questions import AGAIN
from mha_judge.grading.checks.corners.sized import args_at, asked_now, at, begun, found
from mha_judge.grading.expecting.arrays import as_tensors
from mha_judge.grading.expecting.compare import dtype_name
from mha_judge.grading.expecting.expected import leaves
from mha_judge.grading.failures import CheckFailure

_BEYOND, _HUNDREDS, _MANY, _LARGE = 270, 310, 520, 700
"""Least lengths of squares: beyond the whole numbers that bfloat16 and a byte hold, and beyond the
blocks that answers process at once, for one item and for two."""
_LESS, _MORE = 0.8, 1.25
"""What one length is of the others, where there are several."""
_SPREAD = 60
_ITEMS = 4
"""Items of a call in which some positions are louder, other ones in each item."""
_BEYOND_A_BYTE = 257
"""A byte holds 1 of it; and of as many keys with one blocked it counts none."""
_EXACT = 8
"""bfloat16 holds multiples of this up to 2,048, but beyond 256 not the numbers next to them."""


def long(
    asking: Asking, cases: Sequence[Case], wrt: Mapping[str, Sequence[int]]
) -> Iterator[Later]:
    """Ask one entry's questions with long inputs, each form of a call once.

    Args:
        asking: Asks the candidate.
        cases: The questions.
        wrt: By entry, the inputs whose gradients checks ask for.
    """
    cases = [asking.with_heads(case, "least") for case in cases if case.long]
    single = [case for case in cases if not case.is_half]
    forms: dict[object, Case] = {}
    for case in single:
        forms.setdefault(_form_with_masks(case), case)
    calls = [*looking(asking, forms.values())]
    masked = [case for case in single if blocked_keys(case)]
    for case in (masked or single)[:1]:
        letters = _unequal(case, _square(asking, case, _MANY), -1, _MORE)
        yield at(asking, case, letters, "left" if masked else "", "no_grad")
    whole = [case for case in single if not blocked_keys(case)] or single
    for case in sorted(whole, key=lambda case: case.dtype is not torch.float32)[:1]:
        yield at(asking, case, _unequal(case, _square(asking, case, _LARGE), 0, _LESS), items=2)
    told: set[object] = set()
    for number, case in enumerate(forms.values()):
        learning = wrt.get(case.target.entry.name) if number == 0 else None
        letters = _square(asking, case, _HUNDREDS)
        letters = _unequal(case, letters, 0, _LESS) if number % 2 else letters
        yield at(asking, case, letters, wrt=learning)
        given = _given(case)
        if given in told:
            continue
        told.add(given)
        if asking.is_also_in(torch.bfloat16, case):
            yield partial(_with_louder_positions, asking, case, _square(asking, case, _BEYOND))
        if isinstance(case.target, Layer) and DROPOUT in case.target.entry.constructor:
            yield partial(_in_training, asking, case, _square(asking, case, _MANY))
    for case in masked[:1]:
        yield from _with_a_count(asking, case)
        if asking.is_also_in(torch.bfloat16, case):
            yield from _with_one_key_far_on(asking, case)
    for case in forms.values():
        yield from _beyond_a_byte(asking, case)
    yield from near_constants(asking, [*forms.values()], wrt)
    yield from across(asking, calls, wrt)


def _given(case: Case) -> tuple[object, ...]:
    """Return which flags, inputs and lengths a question has, which answers have branches for."""
    flags = [value for value in case.args if isinstance(value, bool)]
    lengths = [(index, case.args[index].dim()) for index in lengths_given(case)]
    return (*flags, *case.shapes.numbers, *case.shapes.tuples, *lengths)


def _form_with_masks(case: Case) -> tuple[object, ...]:
    """Return what a question is given, and along which axes its masks block."""
    return _given(case), *axes_of_masks(case)


def _square(asking: Asking, case: Case, least: int) -> dict[str, int]:
    """Return equal lengths of at least some size, or the longest that are graded."""
    return case.square(min(least + asking.draw.integer(0, _SPREAD), case.domain.longest))


def _unequal(case: Case, letters: Mapping[str, int], place: int, times: float) -> dict[str, int]:
    """Return lengths of which one is unlike the others, where there are several."""
    longest = case.domain.longest
    other = case.lengths[place] if len(case.lengths) > 1 else ()
    return {**letters, **{one: min(int(letters[one] * times), longest) for one in other}}


def _beyond_a_byte(asking: Asking, case: Case) -> Iterator[Later]:
    """Ask with arguments that are numbers, such as a window, larger than a byte holds."""
    names = case.target.entry.arguments
    for index, value in enumerate(case.args):
        if type(value) is int and names[index] not in case.shapes.letters:
            args = case.shapes.at({}, asking.draw, plain=True)
            args[index] = _BEYOND_A_BYTE
            yield found(asking, f"where {names[index]} is {_BEYOND_A_BYTE}", case, args)


def _with_a_count(asking: Asking, case: Case) -> Iterator[Later]:
    """Ask with a few keys blocked, so that the mask's own dtype cannot hold the open count.

    In bfloat16, with one of them blocked, it would be rounded up to all keys, with the last three
    down, and so would the place of the last key that is open, with two. A byte would begin anew.
    """
    if case.target.entry.arrays == "numpy":
        return
    for index in case.shapes.flags:
        if case.target.entry.arguments[index] in case.domain.boolean:
            continue
        length = _EXACT * (_MANY // _EXACT + asking.draw.integer(0, 7))
        for dtype, size, which, words in (
            (torch.bfloat16, length, "one", "one key is"),
            (torch.bfloat16, length, "few", "the last three keys are"),
            (torch.bfloat16, length, "pair", "the last two keys are"),
            (torch.uint8, _BEYOND_A_BYTE, "one", "one key is"),
            (torch.int8, _BEYOND_A_BYTE, "one", "one key is"),
        ):
            letters = case.fitting(dict.fromkeys(case.lengths[-1], size))
            args = blocking(case, args_at(asking, case, letters), which, asking.draw)
            args[index] = args[index].to(dtype)
            short = blocking(case, case.args, "one", asking.draw)
            short[index] = short[index].to(dtype)
            yield partial(
                _of_a_count,
                asking,
                case,
                f"where {sizes_in_words(letters)} and {words} blocked, in {dtype_name(dtype)}",
                begun(asking, case, args),
                dtype,
                short,
            )


def _of_a_count(
    asking: Asking,
    case: Case,
    where: str,
    verdict: Verdict,
    dtype: torch.dtype,
    short: Sequence[Any],
) -> Finding:
    """Return what came of a mask in a dtype, whose fault it is if a short one is wrong, too."""
    failure = verdict()
    if failure is not None and asked_now(asking, case, short) is not None:
        return Finding(f"where a mask is {dtype_name(dtype)}", failure, "mask dtype")
    return Finding(where, failure, "length")


def _with_one_key_far_on(asking: Asking, case: Case) -> Iterator[Later]:
    """Ask in bfloat16 with the last key alone open, whose place, or number, it rounds down."""
    half = _in_bfloat16(case, "in bfloat16")
    if isinstance(half, Finding):
        yield lambda: half
        return
    length = _EXACT * (_MANY // _EXACT + asking.draw.integer(0, 7))
    for size in (length + 1, length + 2):
        letters = half.fitting(dict.fromkeys(half.lengths[-1], size))
        args = blocking(half, args_at(asking, half, letters), "last", asking.draw)
        where = f"in bfloat16, where {sizes_in_words(letters)} and the last key alone is open"
        yield found(asking, where, half, args)


def _in_bfloat16(case: Case, where: str) -> Case | Finding:
    """Return a question in bfloat16, or that no layer can be made for it."""
    try:
        return in_dtype(case, torch.bfloat16)
    except CheckFailure as refusal:
        return Finding(where, refusal, "dtype")


def _with_louder_positions(asking: Asking, case: Case, letters: Mapping[str, int]) -> Finding:
    """Ask in bfloat16 with some positions louder, which must change nothing where they are blocked.

    Otherwise, in half precision, one weight too many among hundreds is lost in rounding.
    """
    where = f"in bfloat16 where {sizes_in_words(letters)}"
    half = _in_bfloat16(case, where)
    if isinstance(half, Finding):
        return half
    failure = _loud_failure(asking, half, letters)
    if failure is not None and failure.margin is not None:
        again = (_loud_failure(asking, half, letters) for _ in range(AGAIN))
        failure = next(filter(None, again), None)
    return Finding(where, failure, "length")


def _in_training(asking: Asking, case: Case, letters: Mapping[str, int]) -> Finding:
    """Ask whether an answer still drops weights of a long input, two of which are then unlike."""
    assert isinstance(case.target, Layer)
    letters = case.fitting(letters)
    args = args_at(asking, case, letters)
    failure = None
    try:
        layer = case.target.like(None, **{DROPOUT: 0.5})
        layer.train(True)
        one, other = (_drawn(asking, replace(case, target=layer), args) for _ in range(2))
        if torch.equal(one, other):
            failure = CheckFailure("drops no weight: two calls give the same")
    except CheckFailure as raised:
        failure = raised
    return Finding(f"in training where {sizes_in_words(letters)}", failure, "length")


def _drawn(asking: Asking, case: Case, args: Sequence[Any]) -> Tensor:
    """Return the first result of a call in training."""
    with asking.allowing(case.asked_with(args)):
        value = next(leaves(as_tensors(case.target.attempt(*args))), None)
    if not isinstance(value, Tensor):
        raise CheckFailure("returns no tensor")
    return value


def _loud_failure(asking: Asking, case: Case, letters: Mapping[str, int]) -> CheckFailure | None:
    args = args_at(asking, case, letters, _ITEMS)
    apart = [{one: letters[one]} for one in case.long if len(case.long) > 1]
    try:
        for chosen in (letters, *apart):
            quiet, loud = louder(case, args, chosen, asking.draw)
            before, after = (asking.answer(case.asked_with(one), one) for one in (quiet, loud))
            if before is None or after is None:  # it is outside the domain
                return None
            pairs = [
                both
                for name in case.names
                for both in zip(before.pairs(name), after.pairs(name), strict=True)
                if both[0][1].exact.is_floating_point()
            ]
            for one, other in pairs:
                require_unmoved(one, other)
            asking.require_right(case, loud, after)
            if all(bool(unmoved(one[1], other[1]).any()) for one, other in pairs):
                break  # else all of some result depends on louder positions
    except CheckFailure as failure:
        return failure
    return None
