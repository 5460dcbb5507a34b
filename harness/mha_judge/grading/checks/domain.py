"""An answer that is right in every check is asked again elsewhere in the domain of its problem.

The questions are those of the checks, varied in one respect at a time: scores of another size,
masks of another dtype, other lengths, gradients at other shapes, one object twice, and sizes that
do not belong together. Each follows a plain call that was right, so what is wrong has one cause.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from mha_judge.grading.calling.context import Context
from mha_judge.grading.calling.function import Function
from mha_judge.grading.calling.layer import Layer
from mha_judge.grading.calling.manner import AXES
from mha_judge.grading.calling.trace import Step
from mha_judge.grading.checks.assertions import assert_gradients_match, assert_rejected
from mha_judge.grading.checks.cases import (
    Case,
    cases_of,
    in_dtype,
    made_with,
    resized,
    shapes_of,
    without_masks,
)
from mha_judge.grading.checks.claims import Wrong
from mha_judge.grading.draw import Draw
from mha_judge.grading.expecting.answer import Answer, assert_close
from mha_judge.grading.expecting.compare import compare, require_form
from mha_judge.grading.expecting.expected import (
    Expected,
    Logits,
    exact_copy,
    in_float64,
    leaves,
)
from mha_judge.grading.failures import CheckFailure, Crashed, Raised, TimedOut
from mha_judge.grading.formulas.constants import integers_in
from mha_judge.problem import axes_of
from mha_judge.wire import map_tree

LARGEST_SCORE = 200_000
"""How large scores are that are graded. A fill of −1e9 is far below; one of −1e4 is not."""
LONGEST = 5_000
_WIDEST_SCALE = 1_000.0
_DRAWS = 6
"""Inputs of which those are asked with that leave a row the lowest scores."""
_SCALE = 300.0
"""What inputs are multiplied with where the reference does not show its scores."""
_SQUARE = 40_000_000
"""Numbers that a naive answer may make of a call: pairs of positions times their features."""
_TRIED = 260
"""A length beyond round buffers, which tells how long a longer one would take."""
_LOUD, _LOUDER, _LOUDER_VALUE = 2, 8.0, 100.0
"""How many positions of a long input in half precision are larger than the others, how much."""
_ROUNDED, _RUN, _SHIFT = 256, 4, 2
"""The last position that bfloat16 counts up to, how many beyond it are larger, side by side, and
how much later in every second item."""
_SLACK, _SLACK_HALF = 8.0, 3.0
"""How many times the error budget is allowed here."""
_SAME, _UNFELT = 1e-12, 4.0
"""How far the reference may move, as a share of its size, where it feels nothing of a change; and
how far an answer may, in units of its dtype."""
_AGAIN = 2
"""How often what is wrong in half precision is asked with other numbers. It must be wrong again:
where two scores nearly tie, rounding may turn a query to either key, once in hundreds of calls."""
_LENGTHS_S = 2.0
"""What an answer may take for those in all."""
_CALL_S = 0.5
"""What a long call may take by what a shorter one took; else it is made shorter."""
_HALF, _MANY = 520, 1_030
"""Least lengths: beyond the whole numbers that bfloat16 has, and beyond large buffers."""
_DTYPES = (
    torch.bool, torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64,
    torch.bfloat16, torch.float32, torch.float64,
)  # fmt: skip
"""Those that −1e9 fits: a mask may be multiplied with it."""
_FEW_DTYPES = 3
_MAX_LONG = {torch.float32: 1, torch.bfloat16: 3}
"""Those that are asked at hundreds of positions."""
_MAX_FAR = 1
"""Those at whose lengths one is thousands and the other is not."""
_MAX_ONE_OBJECT = 4
"""Those in which two inputs become one object."""
_MAX_LONG_GRADIENTS = 3
"""Those of which gradients are asked at a hundred positions, but for the last at more."""
_MAX_SIZES = 4
"""Those that are asked with sizes that do not belong together."""
_MAX_CONSTANTS = 6


class Elsewhere:
    """Asks what no check asks."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._draw = Draw(context.task.seed, "domain")  # one for each respect of each case
        self._constants = integers_in(context.task.submission.source)
        self._length_s = 0.0
        self._asked_long: Counter[torch.dtype] = Counter()
        self._dtypes: Counter[str] = Counter()
        self._of: defaultdict[torch.dtype, set[str]] = defaultdict(set)
        """Entries by the dtypes that their checks ask for."""
        self.found: list[Wrong] = []

    def look(self, checks: Sequence[str], until_failure: bool = False) -> None:
        """Vary the questions of some checks, until one thing of each kind is wrong, or just one."""
        steps = [step for check in checks for step in self._context.trace.of(check)]
        with self._context.trials():
            cases = list(self._right(cases_of(steps)))
            wrt = _differentiated(steps)
            for case in cases:
                self._of[case.dtype].add(case.target.entry.name)
            asked: Counter[str] = Counter()
            for case in cases:
                if until_failure and self.found:
                    return
                name = case.target.entry.name
                self._in_every_respect(case, asked[name], wrt.get(name, ()))
                asked[name] += 1

    def _in_every_respect(self, case: Case, number: int, wrt: Sequence[int]) -> None:
        ways: dict[str, Iterator[tuple[str, CheckFailure | None]]] = {
            "scores": self._scores(case),
            "mask dtype": self._mask_dtypes(case),
            "one object": self._one_object(case, number),
            "gradients": self._gradients(case, number, wrt),
            "sizes": self._sizes(case, number),
            "weights": self._weights(case, number),
            "length": self._lengths(case, number),
        }
        for axis, way in ways.items():
            if not self._is_found(axis):
                place = f"domain {case.target.entry.name} {number} {axis}"
                self._draw = Draw(self._context.task.seed, place)
                self._context.enter(place)
                self._take(axis, way)

    def _take(self, axis: str, way: Iterator[tuple[str, CheckFailure | None]]) -> None:
        """Keep the first thing that is wrong; that time is used up is nothing wrong here."""
        try:
            for where, failure in way:
                if failure is not None and not isinstance(failure, TimedOut):
                    self.found.append(Wrong(frozenset({axis}), where, failure))
                    return
        except CheckFailure:  # of a layer that could not be made any more
            return

    def _is_found(self, axis: str) -> bool:
        return any(axis in one.axes for one in self.found)

    def _right(self, cases: Sequence[Case]) -> Iterator[Case]:
        """Yield cases with the results that are right as they are asked."""
        for case in cases:
            try:
                answer = case.target(*case.args)
            except CheckFailure:
                continue
            wanted = (name for name, value in answer.expected.items() if value is not None)
            names = tuple(name for name in wanted if _is_right(answer, name))
            if names:
                yield replace(case, names=names)

    def _asked(
        self, case: Case, args: Sequence[Any], mode: str = "", score: float = 0.0
    ) -> CheckFailure | None:
        """Return how the answer to other inputs is wrong, where the contract says what is right.

        Budgets follow from the reference alone, and it may be lucky: what is wrong in a corner is
        wrong by far.

        Args:
            case: What is asked.
            args: With these arguments.
            mode: In which gradient mode.
            score: The largest score, which a reference without a softmax does not show.
        """
        try:
            answer = case.target.ask(args, mode)
            if answer is not None:  # or it is none of the domain
                self._compare(case, answer, score)
        except CheckFailure as failure:
            return failure
        return None

    def _compare(self, case: Case, answer: Answer, score: float = 0.0) -> None:
        for name in case.names:
            for found, wanted, label in answer.pairs(name):
                if wanted.is_telling:
                    slack = _SLACK_HALF if case.is_half else _SLACK
                    if score > wanted.largest_logit:
                        wanted = replace(wanted, largest_logit=score)
                    compare(found, wanted, label, slack)

    def _scores(self, case: Case) -> Iterator[tuple[str, CheckFailure | None]]:
        if not case.domain.scores or case.is_half:
            return
        if case.target.entry.name in self._of[torch.float64]:  # rounding would show in float32
            case = in_dtype(case, torch.float64)
        numbers = case.shapes.numbers()
        names = case.target.entry.arguments
        of_scores = isinstance(case.target, Function) and {"q", "k"} <= {*names}
        if of_scores:
            numbers = {names.index(name): numbers[names.index(name)] for name in ("q", "k")}
        for _ in range(3 if case.shapes.flags() or case.domain.masks else 1):
            drawn = [
                {index: self._like(value) for index, value in numbers.items()}
                for _ in range(_DRAWS)
            ]
            fresh = max(drawn, key=lambda one: _overtaken(case, case.with_numbers(one)))
            yield "where scores are large", self._asked_at(case, _scaled(case, fresh))
        if of_scores:
            polar = {index: self._polar(value) for index, value in numbers.items()}
            far = self._asked_at(case, _scaled(case, polar))
            yield "where scores are as far apart as can be", far
            low = {index: self._like(value) for index, value in numbers.items()}
            low[names.index("q")] = low[names.index("q")].abs()
            low[names.index("k")] = -low[names.index("k")].abs()
            yield "where every score is very low", self._asked_at(case, _scaled(case, low))

    def _asked_at(self, case: Case, args: Sequence[Any]) -> CheckFailure | None:
        return self._asked(case, args, score=_largest_score(case, args))

    def _like(self, value: Tensor) -> Tensor:
        return self._draw.normal(*value.shape, dtype=torch.float64).to(value.dtype)

    def _polar(self, value: Tensor) -> Tensor:
        """Return numbers that make all scores equal in size, whatever their signs."""
        signs = self._draw.normal(*value.shape[:-1], 1, dtype=torch.float64).sign()
        return signs.expand(value.shape).to(value.dtype).contiguous()

    def _mask_dtypes(self, case: Case) -> Iterator[tuple[str, CheckFailure | None]]:
        for index, mask in case.shapes.flags().items():
            name = case.target.entry.arguments[index]
            first = name not in self._dtypes  # the others see every dtype between them
            for _ in range(len(_DTYPES) if first else _FEW_DTYPES):
                dtype = _DTYPES[self._dtypes[name] % len(_DTYPES)]
                self._dtypes[name] += 1
                if dtype is torch.bfloat16 and case.target.entry.arrays == "numpy":
                    continue  # which NumPy does not have
                where = f"where `{name}` is {_name(dtype)}"
                yield where, self._asked(case, case.with_numbers({index: mask.to(dtype)}))

    def _one_object(self, case: Case, number: int) -> Iterator[tuple[str, CheckFailure | None]]:
        """Ask with one tensor for several inputs, made equal in size where they are not."""
        if number >= _MAX_ONE_OBJECT:
            return
        names = case.target.entry.arguments
        axes = {i: axes_of(case.domain.shapes[names[i]]) for i in case.shapes.numbers()}
        for first, own in axes.items():
            same = [i for i, others in axes.items() if i >= first and len(others) == len(own)]
            groups = [[first, second] for second in same[1:]]
            for group in [*groups, same] if len(same) > 2 else groups:
                given = " and ".join(f"`{names[index]}`" for index in group)
                pairs = [pair for index in group for pair in zip(axes[index], own, strict=True)]
                failure = self._with_one_object(case, group, dict(pairs))
                yield f"where {given} are one object", failure

    def _with_one_object(
        self, case: Case, group: Sequence[int], equal: Mapping[str, str]
    ) -> CheckFailure | None:
        """Ask with the first input of a group for all; not if no layer has such sizes."""
        letters = {letter: case.shapes.letters[other] for letter, other in equal.items()}
        try:
            case = resized(case, letters)
        except CheckFailure:
            return None
        args = case.shapes.at(letters, self._draw)
        if any(args[index].shape != args[group[0]].shape for index in group):
            return None
        return self._asked(case, [args[group[0]] if i in group else a for i, a in enumerate(args)])

    def _gradients(
        self, case: Case, number: int, wrt: Sequence[int]
    ) -> Iterator[tuple[str, CheckFailure | None]]:
        """Ask for gradients at the shapes of each call, and at a length beyond blocks of 64."""
        wrt = [index for index in wrt if index in case.shapes.numbers()]
        if not wrt or case.dtype is not torch.float32:
            return
        if 1 in case.shapes.letters.values():  # gradients may cancel out, but for rounding
            return
        # a check's own numbers may be where a gradient is next to infinite, as in a norm of equals
        plain = {index: self._like(value) for index, value in case.shapes.numbers().items()}
        args = case.with_numbers(plain)
        yield "where inputs have these shapes", self._differentiated(case, args, wrt)
        for least in (97, 260)[: _MAX_LONG_GRADIENTS - number]:
            letters: dict[str, int] = {}
            for equal in self._lengths_apart(case):
                letters |= dict.fromkeys(equal, least + self._draw.integer(0, 43))
            if letters:
                args = case.shapes.at(self._fitting(case, letters), self._draw, leading=1)
                where = f"where {_sizes(letters)}"
                failure = self._asked(case, args)
                if failure is None:
                    yield where, self._differentiated(case, args, wrt)
                elif not _is_too_much(failure) and not self._is_found("length"):
                    self.found.append(Wrong(frozenset({"length"}), where, failure))

    def _differentiated(
        self, case: Case, args: Sequence[Any], wrt: Sequence[int]
    ) -> CheckFailure | None:
        try:
            outputs = [*leaves(case.target.expected(args))]
        except Exception:  # the reference refuses it: it is none of the domain
            return None
        exact = [one.exact for one in outputs if isinstance(one, Expected)]
        if any(bool(one.isnan().any()) for one in exact):
            return None
        cotangents = [self._like(exact[0].to(case.dtype)), *[None] * (len(outputs) - 1)]
        layer = isinstance(case.target, Layer)
        try:
            assert_gradients_match(
                case.target, *args, wrt=wrt, cotangents=cotangents, parameters=layer
            )
        except CheckFailure as failure:
            return failure if failure.margin is None or failure.margin > _SLACK else None
        return None

    def _weights(self, case: Case, number: int) -> Iterator[tuple[str, CheckFailure | None]]:
        """Ask a fresh layer twice, with other weights the second time, in each gradient mode."""
        layer = case.target
        if number or not isinstance(layer, Layer) or case.target.entry.arrays == "numpy":
            return
        for mode, words in AXES["mode"].items():
            fresh = replace(case, target=layer.like())
            self._asked(fresh, case.args, mode)
            assert isinstance(fresh.target, Layer)
            fresh.target.redraw()
            failure = self._asked(fresh, case.args, mode)
            yield f"after weights were set anew {words}".rstrip(), failure

    def _sizes(self, case: Case, number: int) -> Iterator[tuple[str, CheckFailure | None]]:
        """Ask for sizes that do not belong together: one more, one less, and twice as many."""
        if case.is_half or number >= _MAX_SIZES:
            return
        yield from self._uncovered(case)
        case = without_masks(case)
        for size in case.domain.fits:
            name, _, letter = size.partition(".")
            old = case.shapes.letters.get(letter, 0)
            for new in (old + 1, old - 1, 2 * old):  # not 1, which PyTorch would broadcast
                given = case.args[case.target.entry.arguments.index(name)]
                if new > 1 and given is not None:
                    yield self._refused(case, name, {letter: new})
        for letter, divisor in case.domain.divides.items():
            yield from self._not_divided(case, letter, divisor)

    def _uncovered(self, case: Case) -> Iterator[tuple[str, CheckFailure | None]]:
        """Ask with masks and the like that are too small."""
        for size in case.domain.covers:
            name, _, letter = size.partition(".")
            old = case.shapes.letters.get(letter, 0)
            index = case.target.entry.arguments.index(name)
            for new in (old - 1, old - 2, old // 2):
                if new > 1 and index < len(case.args) and case.args[index] is not None:
                    yield self._refused(case, name, {letter: new})

    def _refused(
        self, case: Case, name: str, letters: Mapping[str, int]
    ) -> tuple[str, CheckFailure | None]:
        """Ask with one argument of other sizes, which must raise."""
        args = case.shapes.at(letters, self._draw, only=name)
        return "", _accepted(case.target, args, _shown(case, args))

    def _not_divided(
        self, case: Case, letter: str, divisor: str
    ) -> Iterator[tuple[str, CheckFailure | None]]:
        """Ask for sizes that do not divide, but multiply out over all positions."""
        size = case.shapes.letters.get(letter, 0)
        unfit = [count for count in range(2, size + 2) if size % count]
        if not unfit:
            return
        chosen = {unfit[self._draw.integer(0, len(unfit) - 1)] for _ in range(3)}
        for count in sorted(chosen):
            for length in (count, count * max(1, size // count)):
                letters = {**dict.fromkeys(self._long(case), length), divisor: count}
                args = case.shapes.at(letters, self._draw)
                target: Any = case.target
                if isinstance(target, Layer):
                    others = {d: 1 for d in case.domain.divides.values() if d != divisor}
                    others.pop(letter, None)  # it must stay what it is
                    sizes = {**target.sizes, **others}
                    sizes |= {name: n for name, n in letters.items() if name in sizes}
                    target = _Made(target, sizes)
                else:
                    names = case.target.entry.arguments
                    args[names.index(divisor)] = count
                why = f"{letter} = {size} with {divisor} = {count}, and inputs {_shown(case, args)}"
                yield "", _accepted(target, args, why)

    def _long(self, case: Case) -> list[str]:
        """Return the letters of a case that may be long."""
        return [letter for letter in case.domain.long if letter in case.shapes.letters]

    def _lengths_apart(self, case: Case) -> list[list[str]]:
        """Return these letters, together where they are equal: causality may want them so."""
        by_size: dict[int, list[str]] = {}
        for letter in self._long(case):
            by_size.setdefault(case.shapes.letters[letter], []).append(letter)
        return [*by_size.values()]

    def _fitting(self, case: Case, letters: Mapping[str, int]) -> dict[str, int]:
        return {
            letter: size + size % 2 if letter in case.domain.even else size
            for letter, size in letters.items()
        }

    def _lengths(self, case: Case, number: int) -> Iterator[tuple[str, CheckFailure | None]]:
        """Ask for long inputs: all lengths, the keys' alone, and what the source speaks of."""
        long = self._long(case)
        if not long or self._length_s > _LENGTHS_S:
            return
        if number > 2 and number % 2 and case.target.entry.name in self._of[torch.bfloat16]:
            case = in_dtype(case, torch.bfloat16)
        tried = dict.fromkeys(long, _TRIED + self._draw.integer(0, 80))
        before_s = self._context.session.computed_s
        yield self._at(case, tried, leading=2 if number == 0 else 1)
        took_s = self._context.session.computed_s - before_s
        self._length_s += took_s
        took_s /= 2 if case.is_half else 1  # which is asked twice
        if not case.target.is_usable:
            return
        most = _TRIED**2 * _CALL_S / max(took_s, 1e-3)  # sizes do not depend on it, nor on a clock
        naive = _SQUARE / self._features(case)
        least = _HALF if case.is_half else _MANY
        square = least + self._draw.integer(0, least // 4)
        square = min(int(naive**0.5), case.domain.longest, square)
        affordable = next((size for size in (square, square // 2) if size**2 <= most), 0)
        self._asked_long[case.dtype] += affordable > _TRIED
        if affordable > _TRIED and self._asked_long[case.dtype] <= _MAX_LONG.get(case.dtype, 0):
            yield self._at(case, dict.fromkeys(long, affordable), leading=1)
        *others, keys = self._lengths_apart(case)
        far = min(int(naive / 16), case.domain.longest, self._draw.integer(2_100, LONGEST))
        if (others or not case.domain.scores) and number < _MAX_FAR and _TRIED < far < most / 16:
            yield self._at(case, dict.fromkeys(keys, far), leading=1)
        most = min(most, naive)
        if number == 0:
            yield from self._constant_sizes(case, most)

    def _constant_sizes(self, case: Case, most: float) -> Iterator[tuple[str, CheckFailure | None]]:
        """Ask for sizes around the numbers that stand in the source."""
        told = [one for one in self._constants if 8 <= one <= LONGEST][:_MAX_CONSTANTS]
        near = [size for one in told for size in (one - 1, one, one + 1, 2 * one + 1)]
        long = self._lengths_apart(case)
        for letters in [*long, *([letter] for letter in self._free(case))]:
            # the other lengths stay: a mask that is cut may block all of a row, which tells nothing
            others = [
                case.shapes.letters[one] for apart in long if apart != letters for one in apart
            ]
            for size in near:
                fits = size**2 <= most or (others and max(others) * size <= most)
                if fits and size <= case.domain.longest:
                    yield self._at(case, dict.fromkeys(letters, size), leading=1)

    def _free(self, case: Case) -> list[str]:
        """Return the letters that a call decides upon, such as widths of a function's inputs."""
        fixed = {
            *made_with(case.target),
            *self._long(case),
            *case.domain.divides,
            *case.domain.divides.values(),
        }
        return [letter for letter in case.shapes.letters if letter not in fixed]

    def _features(self, case: Case) -> int:
        """Return how many numbers a naive answer makes for each pair of positions."""
        sizes = {**case.shapes.letters, **dict.fromkeys([*self._long(case), "B"], 1)}
        shapes = case.domain.shapes.values()
        return max(8, *(math.prod(sizes.get(axis, 1) for axis in axes_of(one)) for one in shapes))

    def _at(
        self, case: Case, letters: Mapping[str, int], leading: int
    ) -> tuple[str, CheckFailure | None]:
        letters = self._fitting(case, letters)
        if not case.is_half:
            half, failure = "", self._asked(case, self._args_at(case, letters, leading))
        else:
            half, failure = f"in {_name(case.dtype)} ", self._asked_aloud(case, letters, leading)
            if failure is not None and failure.margin is not None:
                again = (self._asked_aloud(case, letters, leading) for _ in range(_AGAIN))
                failure = next((one for one in again if one is not None), None)
        return f"{half}where {_sizes(letters)}", None if _is_too_much(failure) else failure

    def _asked_aloud(
        self, case: Case, letters: Mapping[str, int], leading: int
    ) -> CheckFailure | None:
        """Return how the answer is wrong with some positions louder, or where they must be unfelt.

        In half precision one weight too many among hundreds is otherwise lost in rounding.
        """
        quiet, loud = self._loud(case, self._args_at(case, letters, leading), letters)
        try:
            before, after = case.target.ask(quiet), case.target.ask(loud)
            if before is None or after is None:  # it is none of the domain
                return None
            for name in case.names:
                for one, other in zip(before.pairs(name), after.pairs(name), strict=True):
                    require_unfelt(one, other)
            self._compare(case, after)
        except CheckFailure as failure:
            return failure
        return None

    def _args_at(self, case: Case, letters: Mapping[str, int], leading: int) -> list[Any]:
        """Return arguments of some sizes, with numbers of their own."""
        items = {}
        if case.is_half:
            leading, items = 2, {"B": 2}
        elif leading == 1 and "B" in case.shapes.letters:
            items = {"B": 1}
        args = case.shapes.at({**letters, **items}, self._draw, leading=leading)
        longer = max(letters.get(one, 1) / case.shapes.letters[one] for one in self._long(case))
        for name in case.domain.grow if longer > 1 else ():
            index = case.target.entry.arguments.index(name)
            if index < len(args) and args[index] is not None:
                args[index] = math.ceil(args[index] * longer)
        return args

    def _loud(
        self, case: Case, args: list[Any], letters: Mapping[str, int]
    ) -> tuple[list[Any], list[Any]]:
        """Return the arguments, and with some positions that are felt where they are not blocked.

        In both lengths end beside them.
        """
        shapes = shapes_of(case.target, case.domain, args)
        names = case.target.entry.arguments
        loud: dict[int, Tensor] = {}
        # where only values are loud, scores are not, whose rounding errors grow with them
        of_values = "v" in names and isinstance(case.target, Function)
        louder = _LOUDER_VALUE if of_values else _LOUDER
        for letter in self._long(case):
            if letter in letters:
                half = letters[letter] // 2  # early on under causality, one would drown the others
                places = half + self._draw.permutation(half)[:_LOUD]
                if letters[letter] > _ROUNDED:
                    places = _with_neighbours(places, letters[letter])
                for index, axis in shapes.places(letter):
                    if of_values and names[index] != "v":
                        continue
                    loud[index] = _louder(loud.get(index, args[index]), axis, places, louder)
                for name in (one for one, up_to in case.domain.lengths.items() if up_to == letter):
                    index = names.index(name)
                    if index < len(args) and args[index] is not None:
                        args[index] = self._ending_at(places, args[index])
        return args, [loud.get(index, value) for index, value in enumerate(args)]

    def _ending_at(self, places: Tensor, lengths: Tensor) -> Tensor:
        """Return lengths that end between loud positions."""
        drawn = self._draw.lengths(*lengths.shape, most=len(places)) - 1
        return places[drawn].to(lengths.dtype)


def _with_neighbours(places: Tensor, size: int) -> Tensor:
    """Return positions side by side, beyond the last one that bfloat16 counts up to.

    Where positions are rounded some of four are seen too early, and the others are not.
    """
    first = max(_ROUNDED + 1, min(int(places[0]), size - _RUN - _SHIFT))
    return torch.arange(first, min(first + _RUN, size))


def _louder(value: Tensor, axis: int, places: Tensor, factor: float) -> Tensor:
    """Return numbers with some positions larger: in every second item a little later.

    Where the first of them is rounded away from its neighbour in one item, it is not in the other.
    """
    value = value.clone()
    for number, item in enumerate(value.unbind() if axis else [value]):
        at = places + _SHIFT * (number % 2)
        at = at[at < item.shape[max(axis - 1, 0)]]
        item.index_copy_(max(axis - 1, 0), at, factor * item.index_select(max(axis - 1, 0), at))
    return value


def require_unfelt(before: tuple[Any, Expected, str], after: tuple[Any, Expected, str]) -> None:
    """Assert that an answer changes only where that of the reference does."""
    (found, exact, label), (other, changed, _) = before, after
    size = max(float(exact.exact.abs().max()), 1e-3) if exact.exact.numel() else 1.0
    same = (exact.exact - changed.exact).abs() <= _SAME * size
    one, two = (require_form(value, exact, label).double() for value in (found, other))
    apart = torch.where(same, (one - two).abs(), torch.zeros_like(one))
    allowed = _UNFELT * torch.finfo(exact.rounded.dtype).eps * size
    if apart.numel() and not float(apart.max()) <= allowed:
        index = [int(i) for i in (~(apart <= allowed)).nonzero()[0]]
        raise CheckFailure(
            f"{label} changes with positions that are blocked for it",
            f"first at {index}: by {float(apart[tuple(index)]):.3g}, where such alone were changed",
            margin=float(apart.max()) / allowed,
        )


def _is_too_much(failure: CheckFailure | None) -> bool:
    """Return whether an answer took more time or memory than there is, which is not graded here."""
    if isinstance(failure, Raised):
        return failure.kind == "MemoryError" or "allocate memory" in failure.message
    return isinstance(failure, (TimedOut, Crashed))


class _Made:
    """A layer that the contract rules out, made and called at once."""

    def __init__(self, layer: Layer, sizes: Mapping[str, Any]) -> None:
        self._layer, self._sizes = layer, sizes

    def attempt(self, *args: Any) -> None:
        self._layer.maker.try_once(self._sizes, args)


def _differentiated(steps: Sequence[Step]) -> dict[str, list[int]]:
    """Return by entry which inputs gradients are asked for."""
    found: dict[str, list[int]] = {}
    for step in steps:
        if step.wrt:
            known = found.setdefault(step.target.entry.name, [])
            known += [index for index in step.wrt if index not in known]
    return found


def _is_right(answer: Any, name: str) -> bool:
    try:
        assert_close(answer, name)
    except (CheckFailure, ValueError):  # wrong, or nothing that the contract says
        return False
    return True


def _accepted(target: Any, args: Sequence[Any], why: str) -> CheckFailure | None:
    try:
        assert_rejected(target, *args, why=why)
    except CheckFailure as failure:
        return failure
    return None


def _scaled(case: Case, numbers: Mapping[int, Tensor]) -> list[Any]:
    """Return the arguments with scores as large as they may be."""
    reached, scale = _largest_score(case, case.with_numbers(numbers)), 1.0
    for _ in range(3):
        if not reached or scale >= _WIDEST_SCALE:
            break
        scale = min(_WIDEST_SCALE, scale * (LARGEST_SCORE / reached) ** 0.5)
        larger = {index: value * scale for index, value in numbers.items()}
        reached = _largest_score(case, case.with_numbers(larger))
    scale = scale if reached else _SCALE
    return case.with_numbers({index: value * scale for index, value in numbers.items()})


def _largest_score(case: Case, args: Sequence[Any]) -> float:
    """Return the largest number that goes into a softmax; 0 where it cannot be known."""
    return _scores_of(case, args)[0] or _largest_product(case, args)


def _overtaken(case: Case, args: Sequence[Any]) -> float:
    """Return how low all scores of a row are that are not blocked, beside the largest one.

    A number that stands for −∞ and is not low enough overtakes them.
    """
    largest, lowest = _scores_of(case, args)
    return -lowest / largest if largest else 0.0


def _scores_of(case: Case, args: Sequence[Any]) -> tuple[float, float]:
    """Return the largest score in size, and the lowest that the largest one of a row is."""

    def ask() -> tuple[float, float]:
        exact, _ = case.target.references()
        logits = Logits(rows=True)
        with torch.no_grad(), logits, in_float64():
            exact(*(map_tree(exact_copy, value) for value in args))
        return logits.largest, logits.lowest

    return case.target.remembered(("scores", args), ask)


def _largest_product(case: Case, args: Sequence[Any]) -> float:
    """Return the largest product of a query and a key over √D; 0 where nothing takes both."""
    named = dict(zip(case.target.entry.arguments, args, strict=False))
    if not isinstance(case.target, Function) or not {"q", "k"} <= named.keys():
        return 0.0
    q, k = named["q"].double(), named["k"].double()
    if q.shape[-1] != k.shape[-1] or q.shape[:-2] != k.shape[:-2]:
        return 0.0  # such as keys for several heads
    return float((q @ k.mT).abs().max()) / math.sqrt(q.shape[-1])


def _shown(case: Case, args: Sequence[Any]) -> str:
    """Return the shapes of a call's arguments in words."""
    named = zip(case.target.entry.arguments, args, strict=False)
    return ", ".join(
        f"`{name}` {tuple(value.shape)}" for name, value in named if isinstance(value, Tensor)
    )


def _sizes(letters: Mapping[str, int]) -> str:
    return " and ".join(f"{letter} = {size}" for letter, size in letters.items())


def _name(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")
