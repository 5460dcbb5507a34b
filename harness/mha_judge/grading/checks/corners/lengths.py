"""Long inputs: a few squares of positions, and lengths near numbers in the source."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any

import torch

from mha_judge.bank.problem import axes_of
from mha_judge.grading.calling.layer import Layer
from mha_judge.grading.calling.manner import AXES
from mha_judge.grading.calling.session import NeverAsked
from mha_judge.grading.checks.cases import Case, in_dtype, shapes_of
from mha_judge.grading.checks.corners import numbers
from mha_judge.grading.checks.corners.asking import (
    Asking,
    Finding,
    Later,
    Verdict,
    sizes_in_words,
    unmoved,
)
from mha_judge.grading.checks.corners.axes import DROPOUT
from mha_judge.grading.checks.corners.loud import louder, require_unmoved
from mha_judge.grading.checks.corners.masks import (
    axes_of_masks,
    blocked_keys,
    blocking,
    lengths_given,
)
from mha_judge.grading.checks.corners.questions import AGAIN
from mha_judge.grading.checks.corners.widths import free_letters, head_sizes, narrow
from mha_judge.grading.expecting.arrays import as_tensors
from mha_judge.grading.expecting.compare import dtype_name
from mha_judge.grading.expecting.expected import leaves
from mha_judge.grading.failures import CheckFailure, TimedOut
from mha_judge.grading.formulas.constants import integers_in

LONGEST = 5_000
_BEYOND, _HUNDREDS, _MANY, _LARGE = 270, 310, 520, 700
"""Least lengths of squares: beyond the whole numbers that bfloat16 and a byte hold, and beyond the
blocks that answers process at once, for one item and for two."""
_SPREAD, _ITEM = 60, 64
_NUMBERS = 40_000_000
"""Numbers that a naive answer may compute in a call: pairs of positions times their features."""
_ITEMS = 4
"""Items of a call in which some positions are louder, other ones in each item."""
_MOST_CONSTANTS, _MOST_HEADS = 6, 130
_COUNTS, _MOST_COUNTS = 1 << 20, 2
"""Numbers in the source that may be counts of numbers, and how many of them are asked for."""
_MOST_ITEMS = 1 << 16
_OWN_WIDTH = 38
"""A width that is asked for nowhere else: what is kept for it has no other size yet."""
_COUNTED = 257
"""With one key blocked, a byte counts none."""
_BEYOND_A_BYTE = 257
"""A byte holds 1 of it."""
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
    layers: dict[object, Layer] = {}
    cases = [_with_heads(asking, case, "least", layers) for case in cases if case.long]
    single = [case for case in cases if not case.is_half]
    masked = [case for case in single if blocked_keys(case)]
    for case in (masked or single)[:1]:
        letters = _longer(case, _square(asking, case, _MANY))
        yield _at(asking, case, letters, "left" if masked else "", "no_grad")
    whole = [case for case in single if not blocked_keys(case)] or single
    for case in sorted(whole, key=lambda case: case.dtype is not torch.float32)[:1]:
        yield _at(asking, case, _apart(case, _square(asking, case, _LARGE)), items=2)
    forms: dict[object, Case] = {}
    for case in single:
        forms.setdefault(_form(case), case)
    told: set[object] = set()
    for number, case in enumerate(forms.values()):
        learning = wrt.get(case.target.entry.name) if number == 0 else None
        letters = _square(asking, case, _HUNDREDS)
        yield _at(asking, case, _apart(case, letters) if number % 2 else letters, wrt=learning)
        given = _given(case)
        if given in told:
            continue
        told.add(given)
        if asking.is_also_in(torch.bfloat16, case):
            loud = in_dtype(case, torch.bfloat16)
            yield partial(_with_louder_positions, asking, loud, _square(asking, loud, _BEYOND))
        if isinstance(case.target, Layer) and DROPOUT in case.target.entry.constructor:
            args = _args_at(asking, case, case.fitting(_square(asking, case, _MANY)))
            yield partial(_in_training, asking, case, args)
    for case in masked[:1]:
        yield from _with_a_count(asking, case)
        if asking.is_also_in(torch.bfloat16, case):
            yield from _with_one_key_far_on(asking, in_dtype(case, torch.bfloat16))
    for case in forms.values():
        yield from _beyond_a_byte(asking, case)
    yield from _constant_sizes(asking, [*forms.values()], wrt, layers)


def _with_heads(asking: Asking, case: Case, how: str | int, layers: dict[object, Layer]) -> Case:
    """Return a question of a layer with other, narrow heads, made once; a function's as it is."""
    other = head_sizes(case, how)
    if not isinstance(case.target, Layer) or not other:
        return case
    sizes = {name: other.get(name, size) for name, size in case.target.sizes.items()}
    key = (case.target.dtype, *sizes.items())
    if key not in layers:
        try:
            layers[key] = case.target.like(**sizes)
        except CheckFailure:  # other claims tell that it cannot be made
            return case
    args = tuple(case.shapes.at(other, asking.draw))
    shapes = shapes_of(layers[key], case.domain, args)
    return replace(case, target=layers[key], args=args, shapes=shapes)


def _given(case: Case) -> tuple[object, ...]:
    """Return which flags, inputs and lengths a question has, which answers have branches for."""
    flags = [value for value in case.args if isinstance(value, bool)]
    lengths = [(index, case.args[index].dim()) for index in lengths_given(case)]
    return (*flags, *case.shapes.numbers, *case.shapes.tuples, *lengths)


def _form(case: Case) -> tuple[object, ...]:
    """Return what a question is given, and along which axes its masks block."""
    return _given(case), *axes_of_masks(case)


def _square(asking: Asking, case: Case, least: int) -> dict[str, int]:
    """Return equal lengths of at least some size, or the longest that are graded."""
    most = min(int((_NUMBERS / _features(case)) ** 0.5), case.domain.longest)
    return case.square(min(least + asking.draw.integer(0, _SPREAD), most))


def _apart(case: Case, letters: Mapping[str, int]) -> dict[str, int]:
    """Return lengths of which one is less than the others, where there are several."""
    less = case.lengths[0] if len(case.lengths) > 1 else ()
    return {**letters, **{one: letters[one] * 4 // 5 for one in less}}


def _longer(case: Case, letters: Mapping[str, int]) -> dict[str, int]:
    """Return lengths of which the last is more than the others, where there are several."""
    more = case.lengths[-1] if len(case.lengths) > 1 else ()
    return {**letters, **{one: min(letters[one] * 5 // 4, case.domain.longest) for one in more}}


def _constant_sizes(
    asking: Asking,
    forms: Sequence[Case],
    wrt: Mapping[str, Sequence[int]],
    layers: dict[object, Layer],
) -> Iterator[Later]:
    """Ask for sizes around the numbers that stand in the source, small in every other length.

    Each form of a question is asked beyond each number, as a branch may hold for one form alone;
    the first for gradients as well, and for as many items and heads.
    """
    constants = integers_in(asking.context.task.submission.source)
    told = [one for one in constants if 8 <= one <= LONGEST][:_MOST_CONSTANTS]
    for count in [one for one in constants if LONGEST < one <= _COUNTS][:_MOST_COUNTS]:
        yield from _beyond(asking, forms[0], count)
        for case in forms:
            size = math.isqrt(count) + 1  # of one item
            if size <= case.domain.longest and size * size <= _NUMBERS / _features(case):
                yield _at(asking, case, case.square(size))
    for number, case in enumerate(forms):
        for constant in told:
            longest = min(2 * constant + 1, case.domain.longest)
            beyond = {constant + 1: None, longest: None}
            sizes = {constant - 1: None, constant: None, **beyond} if number == 0 else beyond
            learning = wrt.get(case.target.entry.name) if number == 0 else None
            yield from _around(asking, case, [*sizes], learning)
            for given in (constant + 1, constant + 2):
                yield from _with_a_number(asking, case, given)
            if isinstance(case.target, Layer):
                yield from _in_manner(asking, case, constant + 1, "instance", "loaded")
            elif number == 0:
                yield from _in_manner(asking, case, constant, "before", "filled")
            if number == 0:
                yield _at(asking, case, {}, wrt=learning, items=constant + 1)
            if number == 0 and constant < _MOST_HEADS:
                of_heads = _with_heads(asking, case, constant + 1, layers)
                where = f"with {constant + 1} heads"
                yield _found(asking, where, of_heads, of_heads.args)


def _around(
    asking: Asking, case: Case, sizes: Sequence[int], wrt: Sequence[int] | None
) -> Iterator[Later]:
    """Ask for some sizes of each length; the others stay as they are, and are one beside the last.

    The last is asked for gradients, too, and the one before for those of parameters alone. A mask
    that is cut may block all of a row, which tells nothing.
    """
    most = _NUMBERS / _features(case)
    for letters in [*case.lengths, *([letter] for letter in free_letters(case))]:
        others = [one for equal in case.lengths if equal != letters for one in equal]
        ones = dict.fromkeys(others, 1) if letters in case.lengths else {}
        plain = {one: case.shapes.letters[one] for one in others}
        asked = [(size, plain) for size in sizes] + [(sizes[-1], ones)] * (ones != plain)
        for size, beside in asked:
            if size * max(beside.values(), default=size) <= most and size <= case.domain.longest:
                longer = {**beside, **dict.fromkeys(letters, size)}
                learning = wrt if size in sizes[-2:] else None
                leaf = "" if size == sizes[-1] else "none"
                yield _at(asking, case, longer, wrt=learning, leaf=leaf, items=2)


def _in_manner(asking: Asking, case: Case, size: int, axis: str, value: str) -> Iterator[Later]:
    """Ask at equal lengths in a manner that may tell what was kept for this size.

    A buffer that has grown may be too large for a new layer, or be handed out itself.
    """
    letters = case.square(size)
    if size * size > _NUMBERS / _features(case) or size > case.domain.longest:
        return
    free = [] if isinstance(case.target, Layer) else free_letters(case)
    args, others = (
        _args_at(asking, case, {**letters, **dict.fromkeys(free, width)})
        for width in (_OWN_WIDTH, _OWN_WIDTH + 2)
    )
    verdict = _begun(asking, case, args, {axis: value, "number": 1})
    where = f"where {sizes_in_words(letters)}, {AXES[axis][value]}"

    def finding() -> Finding:
        failure = verdict()
        is_kept = failure is not None and _asked(asking, case, others) is None
        return Finding(where, failure if is_kept else None, axis)

    yield finding


def _beyond(asking: Asking, case: Case, count: int) -> Iterator[Later]:
    """Ask with more numbers, or pairs of positions, than a number that stands in the source.

    In another layout as well, so that a buffer is used twice; of an entry that takes no tensors,
    the result is overwritten.
    """
    if case.target.entry.arrays == "either":
        yield from _in_manner(asking, case, count // _OWN_WIDTH + 1, "before", "filled")
        return
    single = _args_at(asking, case, case.square(1), min(count, _MOST_ITEMS) + 1)
    if count <= _MOST_ITEMS and _largest(single) > count:
        yield _found(asking, f"with {count + 1} items", case, single)
    letters, leading = case.square(_ITEM), len(case.shapes.leading)
    each = max(1, _largest(_args_at(asking, case, letters)))
    for size, what in ((each, "numbers in an input"), (_ITEM**2, "pairs of positions")):
        items, heads = count // size + 1, min(2, leading) or 1  # of which no view makes one axis
        if items * _ITEM**2 * _features(case) > _NUMBERS:
            continue
        args = _args_at(asking, case, letters, items // heads + 1, heads)
        if _largest(args) < items * each:
            return  # it has no items
        where = f"with more than {count} {what}"
        yield _found(asking, where, case, args)
        others = _args_at(asking, case, letters, items // heads + 1, heads)
        verdict = _begun(asking, case, others, {"layout": "reversed"})

        def finding(
            where: str = where, verdict: Verdict = verdict, plain: Sequence[Any] = args
        ) -> Finding:
            failure = verdict()
            if failure is not None and _asked(asking, case, plain) is not None:
                failure = None  # which was told already
            return Finding(f"{where}, {AXES['layout']['reversed']}", failure, "layout")

        yield finding


def _largest(args: Sequence[Any]) -> int:
    """Return how many numbers the largest argument has."""
    return max((one.numel() for one in args if isinstance(one, torch.Tensor)), default=0)


def _with_a_number(asking: Asking, case: Case, number: int) -> Iterator[Later]:
    """Ask with arguments that are numbers, such as a block size, in as many positions and more."""
    names = case.target.entry.arguments
    for index, value in enumerate(case.args):
        if type(value) is not int or names[index] in case.shapes.letters:
            continue
        for size in (number, 2 * number + 1):
            letters = case.square(size)
            if size * size > _NUMBERS / _features(case) or size > case.domain.longest:
                continue
            args = _args_at(asking, case, letters)
            args[index] = number
            where = f"where {names[index]} is {number} and {sizes_in_words(letters)}"
            yield _found(asking, where, case, args)


def _beyond_a_byte(asking: Asking, case: Case) -> Iterator[Later]:
    """Ask with arguments that are numbers, such as a window, larger than a byte holds."""
    names = case.target.entry.arguments
    for index, value in enumerate(case.args):
        if type(value) is int and names[index] not in case.shapes.letters:
            args = case.shapes.at({}, asking.draw, plain=True)
            args[index] = _BEYOND_A_BYTE
            yield _found(asking, f"where {names[index]} is {_BEYOND_A_BYTE}", case, args)


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
            (torch.uint8, _COUNTED, "one", "one key is"),
            (torch.int8, _COUNTED, "one", "one key is"),
        ):
            letters = case.fitting(dict.fromkeys(case.lengths[-1], size))
            args = blocking(case, _args_at(asking, case, letters), which, asking.draw)
            args[index] = args[index].to(dtype)
            short = blocking(case, case.args, "one", asking.draw)
            short[index] = short[index].to(dtype)
            yield partial(
                _of_a_count,
                asking,
                case,
                f"where {sizes_in_words(letters)} and {words} blocked, in {dtype_name(dtype)}",
                _begun(asking, case, args),
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
    if failure is not None and _asked(asking, case, short) is not None:
        return Finding(f"where a mask is {dtype_name(dtype)}", failure, "mask dtype")
    return Finding(where, failure, "length")


def _with_one_key_far_on(asking: Asking, case: Case) -> Iterator[Later]:
    """Ask in bfloat16 with the last key alone open, whose place, or number, it rounds down."""
    length = _EXACT * (_MANY // _EXACT + asking.draw.integer(0, 7))
    for size in (length + 1, length + 2):
        letters = case.fitting(dict.fromkeys(case.lengths[-1], size))
        args = blocking(case, _args_at(asking, case, letters), "last", asking.draw)
        where = f"in bfloat16, where {sizes_in_words(letters)} and the last key alone is open"
        yield _found(asking, where, case, args)


def _at(
    asking: Asking,
    case: Case,
    letters: Mapping[str, int],
    mask: str = "",
    mode: str = "",
    wrt: Sequence[int] | None = None,
    leaf: str = "",
    items: int = 1,
) -> Later:
    """Ask at some lengths, with keys blocked, in a gradient mode, and for gradients, as given.

    These are of some inputs and of parameters, or of parameters alone if `leaf` is none.
    """
    letters = case.fitting(letters)
    args = _args_at(asking, case, letters, items)
    if mask:
        args = blocking(case, args, mask, asking.draw)
    manner = {"mode": mode} if case.target.entry.arrays == "torch" else {}
    where = f"where {sizes_in_words(letters) if letters else f'there are {items} items'}"
    if mask:
        where += " and the first keys are blocked"
    verdict = _begun(asking, case, args, manner, wrt, leaf)
    is_plain = wrt is None and not manner.get("mode")

    def finding() -> Finding:
        failure = verdict()
        if failure is not None and not isinstance(failure, TimedOut) and not is_plain:
            plain = _asked(asking, case, args)
            if plain is None and leaf and _asked(asking, case, args, wrt=wrt) is None:
                return Finding(f"{where}, {AXES['leaf'][leaf]}", failure, "leaf")
            if plain is None and wrt is not None:
                return Finding(f"{where}, in its gradients", failure, "gradient")
            if plain is None:
                return Finding(f"{where} {AXES['mode'][mode]}", failure, "mode")
            failure = plain
        return Finding(where, failure, "length")

    return finding


def _found(asking: Asking, where: str, case: Case, args: Sequence[Any]) -> Later:
    """Begin a plain question of some length."""
    verdict = _begun(asking, case, args)
    return lambda: Finding(where, verdict(), "length")


def _asked(
    asking: Asking, case: Case, args: Sequence[Any], wrt: Sequence[int] | None = None
) -> CheckFailure | None:
    asking.context.session.settle()
    return _begun(asking, case, args, wrt=wrt)()


def _begun(
    asking: Asking,
    case: Case,
    args: Sequence[Any],
    manner: Mapping[str, Any] | None = None,
    wrt: Sequence[int] | None = None,
    leaf: str = "",
) -> Verdict:
    wanted, through = None, [*case.target.entry.returns[:1], *{"weights"} & {*case.names[1:]}]
    if wrt is not None:
        wanted = numbers.wanted(case, args, asking, wrt, {"leaf": leaf}, through)
    with asking.allowing(case, args):
        verdict = asking.begin(case, args, manner, wanted=wanted)

    def told() -> CheckFailure | None:
        try:
            return verdict()
        except NeverAsked:
            with asking.allowing(case, args):
                return asking.ask(case, args, manner, wanted=wanted)

    return told


def _with_louder_positions(asking: Asking, case: Case, letters: Mapping[str, int]) -> Finding:
    """Ask with some positions louder, which must change nothing where they are blocked.

    Otherwise, in half precision, one weight too many among hundreds is lost in rounding.
    """
    failure = _loud_failure(asking, case, letters)
    if failure is not None and failure.margin is not None:
        again = (_loud_failure(asking, case, letters) for _ in range(AGAIN))
        failure = next((one for one in again if one is not None), None)
    return Finding(
        f"in {dtype_name(case.dtype)} where {sizes_in_words(letters)}", failure, "length"
    )


def _in_training(asking: Asking, case: Case, args: Sequence[Any]) -> Finding:
    """Ask whether an answer still drops weights of a long input, two of which are then unlike."""
    assert isinstance(case.target, Layer)
    failure = None
    with suppress(CheckFailure), asking.allowing(case, args):
        layer = case.target.like(None, **{DROPOUT: 0.5})
        layer.train(True)
        one, other = (next(leaves(as_tensors(layer.attempt(*args)))) for _ in range(2))
        if torch.equal(one, other):
            failure = CheckFailure("drops no weight: two calls give the same")
    letters = dict.fromkeys(case.long[:1], args[0].shape[1])
    return Finding(f"in training where {sizes_in_words(letters)}", failure, "length")


def _loud_failure(asking: Asking, case: Case, letters: Mapping[str, int]) -> CheckFailure | None:
    args = _args_at(asking, case, letters, _ITEMS)
    apart = [{one: letters[one]} for one in case.long if len(case.long) > 1]
    try:
        for chosen in (letters, *apart):
            quiet, loud = louder(case, args, chosen, asking.draw)
            with asking.allowing(case, args):
                before, after = asking.answer(case, quiet), asking.answer(case, loud)
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


def _args_at(
    asking: Asking, case: Case, letters: Mapping[str, int], items: int = 1, heads: int = 1
) -> list[Any]:
    """Return arguments of some sizes, with numbers of their own, few items and least widths.

    Of leading axes without letters the second is as long as `heads` says.
    """
    batch = {"B": items} if "B" in case.shapes.letters else {}
    sizes = {**narrow(case), **letters, **batch}
    args = case.shapes.at(sizes, asking.draw, leading=1, spread=[items, heads])
    longer = max(letters.get(one, 1) / case.shapes.letters[one] for one in case.long)
    for name in case.domain.grow if longer > 1 else ():
        index = case.target.entry.arguments.index(name)
        if index < len(args) and args[index] is not None:
            args[index] = math.ceil(args[index] * longer)
    return args


def _features(case: Case) -> int:
    """Return how many numbers a naive answer computes for each pair of positions."""
    sizes = {**case.shapes.letters, **dict.fromkeys([*case.long, "B"], 1)}
    shapes = case.domain.shapes.values()
    return max(8, *(math.prod(sizes.get(axis, 1) for axis in axes_of(one)) for one in shapes))
