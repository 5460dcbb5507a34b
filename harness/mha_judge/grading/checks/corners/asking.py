"""Asking a question again with other inputs, and telling whether the answer is right there."""

from __future__ import annotations

import functools
import math
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import Any, NamedTuple

import torch
from torch import Tensor

from mha_judge.grading.calling.context import Context
from mha_judge.grading.calling.layer import Layer
from mha_judge.grading.calling.session import NeverAsked
from mha_judge.grading.calling.target import Gradient, Unread, Wanted
from mha_judge.grading.checks.assertions import require_gradients, require_refusal
from mha_judge.grading.checks.cases import Case, form_of, made_once, shapes_of
from mha_judge.grading.checks.corners.widths import LEADING, head_sizes, sizes_of
from mha_judge.grading.draw import Draw
from mha_judge.grading.expecting.answer import Answer
from mha_judge.grading.expecting.compare import compare, require_form
from mha_judge.grading.expecting.expected import Expected, leaves
from mha_judge.grading.failures import CheckFailure, WritesToInput

SLACK, _SLACK_HALF = 8.0, 3.0
"""How many times the error budget is allowed here. The budget follows from the reference alone,
which may be exact by luck; and an answer that is wrong in a corner is wrong by far."""

_CANCELLED = 1e3
"""How many times the numbers of level rows the error budget's scale is, where nothing is left of
them in a result, as in normalised features: the reference may be exact there by luck, and a sum in
another order is not."""

_SAME = 1e-12
"""How far the reference's result may move, as a share of its size, and count as unchanged."""
Compared = tuple[Any, Expected, str]
"""A result, what is expected, and its label."""
Verdict = Callable[[], CheckFailure | None]
"""Says how an answer is wrong; None if it is right, or not defined."""


class Finding(NamedTuple):
    """The outcome of one question."""

    where: str
    """What was asked, in words that follow "wrong"; empty if the failure says it."""
    failure: CheckFailure | None
    axis: str
    """The axis that it is about."""


Later = Callable[[], Finding]
"""Says what came of a question that was begun."""
_HEADS = ("H", "num_heads", "n_heads", "num_q_heads")
_PAIR_S = 50e-6
"""What a loop in Python may take for a pair of positions of one head."""
_FAR = 0.5
"""How far a gradient in half precision may be off, as a share of its size."""


class Asking:
    """Asks one candidate, with inputs drawn anew in each place."""

    def __init__(
        self,
        context: Context,
        cases: Iterable[Case],
        row_blocked: Collection[str] = (),
        left_alone: Collection[str] = (),
    ) -> None:
        """Take the questions, and what checks say of the entries.

        Args:
            context: The candidate's context.
            cases: The questions that are asked again.
            row_blocked: Entries that were asked with a mask in which a row had no open key.
            left_alone: Entries that must leave their inputs as they are, by checks.
        """
        self.context = context
        self.by_hand = "autograd" in context.task.problem.forbid
        """Whether answers compute gradients by hand."""
        self.row_blocked = row_blocked
        self.left_alone = {*left_alone}
        self._entries: defaultdict[torch.dtype, set[str]] = defaultdict(set)
        self._forms: set[tuple[object, ...]] = set()
        for case in cases:
            self._entries[case.dtype].add(case.target.entry.name)
            self._forms.add((case.dtype, _form(case)))
        self._renewed: dict[Layer, Layer] = {}
        """By each layer that went with its process the one that is asked instead."""
        self._with_heads: dict[object, Layer] = {}
        """Layers with other heads that were made, by entry, dtype and sizes."""
        self._answered_in: dict[tuple[object, ...], torch.dtype | None] = {}
        self._sizes: defaultdict[object, list[dict[str, int]]] = defaultdict(list)
        """The sizes of all questions so far, by gradient mode, what learns, and form."""
        self.draw = Draw(context.task.seed, "domain")

    def enter(self, place: str) -> None:
        """Draw afresh, so that the questions of a place do not depend on earlier questions."""
        self.draw = Draw(self.context.task.seed, place)
        self.context.enter(place)

    def is_also_in(self, dtype: torch.dtype, case: Case) -> bool:
        """Return whether checks ask for a question's entry in another dtype than its own, too."""
        return dtype is not case.dtype and case.target.entry.name in self._entries[dtype]

    def is_asked_alike(self, dtype: torch.dtype, case: Case) -> bool:
        """Return whether checks ask in another dtype with the same arguments given, too."""
        return dtype is not case.dtype and (dtype, _form(case)) in self._forms

    @contextmanager
    def allowing(self, case: Case) -> Iterator[None]:
        """Let a call take the time that a Python loop over all pairs of positions may take."""
        with self.context.session.allowing(_PAIR_S * pairs_of(case, sizes_of(case))):
            yield

    def sizes_asked(self, case: Case, mode: str, learning: str = "") -> Sequence[Mapping[str, int]]:
        """Return the sizes of all questions so far with the same arguments given.

        Args:
            case: What was given.
            mode: The gradient mode.
            learning: `some` if gradients of inputs were asked for, `none` if those of parameters
                alone were; empty for all questions.
        """
        return self._sizes[mode, learning, _form(case)]

    def living(self, case: Case) -> Case:
        """Return a question to a layer that can be called: one that is gone is made anew."""
        layer = case.target
        while isinstance(layer, Layer) and not layer.is_usable:
            if layer not in self._renewed:
                try:
                    self._renewed[layer] = layer.like()
                except CheckFailure:  # the file does not even load again
                    return case
            layer = self._renewed[layer]
        return case if layer is case.target else replace(case, target=layer)

    def with_heads(self, case: Case, how: str | int) -> Case:
        """Return a question to a layer with other, narrow heads; a function's as it is.

        Args:
            case: The question.
            how: Which heads, as `head_sizes` takes it.
        """
        other = head_sizes(case, how)
        if not isinstance(case.target, Layer) or not other:
            return case
        sizes = {name: other.get(name, size) for name, size in case.target.sizes.items()}
        try:
            layer = made_once(self._with_heads, case.target, case.target.dtype, sizes)
        except CheckFailure:  # other claims tell that it cannot be made
            return case
        args = tuple(case.shapes.at(other, self.draw))
        return replace(case, target=layer, args=args, shapes=shapes_of(layer, case.domain, args))

    def like(self, value: Tensor) -> Tensor:
        """Return plain normal numbers of a tensor's shape and dtype."""
        return self.draw.normal(*value.shape, dtype=value.dtype)

    def ask(
        self,
        case: Case,
        args: Sequence[Any],
        manner: Mapping[str, Any] | None = None,
        wanted: Wanted | None = None,
    ) -> CheckFailure | None:
        """Return how the result for other inputs is wrong; None if it is right, or not defined.

        Args:
            case: The question.
            args: The arguments of the call.
            manner: The manner of the call; plain by default.
            wanted: The gradients that are asked for.
        """
        self.context.session.settle()
        return self.begin(case, args, manner, wanted=wanted)()

    def begin(
        self,
        case: Case,
        args: Sequence[Any],
        manner: Mapping[str, Any] | None = None,
        score: float = 0.0,
        alike: Sequence[Any] | None = None,
        wanted: Wanted | None = None,
    ) -> Verdict:
        """Begin to ask, and return what says how the result is wrong, whatever happens until then.

        So an answer can be judged, and the next question made, while the worker computes. What is
        returned raises `NeverAsked` if an earlier question has ended the worker.

        Args:
            case: The question, with the sizes of the call.
            args: The arguments of the call.
            manner: The manner of the call; plain by default.
            score: The largest score, which a reference without a softmax does not show.
            alike: Arguments that the contract defines, if it does not define all results for
                `args`: only numbers that the reference gives for both are compared.
            wanted: The gradients that are asked for.
        """
        case = self.living(case)
        how, dtype = manner or {}, self._dtype_known(case, args)
        as_it_is = replace(case, target=case.target.as_it_is())
        mode, sizes = how.get("mode", ""), sizes_of(case)
        self._sizes[mode, "", _form(case)].append(sizes)
        if wanted is not None:
            self._sizes[mode, "some" if wanted.wrt else "none", _form(case)].append(sizes)
        with self.allowing(case):
            unread = case.target.ask(args, how, dtype, wanted)
        last = case.target.last

        def verdict() -> CheckFailure | None:
            try:
                if unread is not None:  # else it is outside the domain
                    self._require(as_it_is, args, unread, score, alike, wanted)
            except CheckFailure as failure:
                if last is not None:
                    failure.step = replace(last, target=as_it_is.target)
                return failure
            return None

        return functools.cache(verdict)

    def _require(
        self,
        case: Case,
        args: Sequence[Any],
        unread: Unread,
        score: float,
        alike: Sequence[Any] | None,
        wanted: Wanted | None,
    ) -> None:
        """Assert that what came back from a call is right."""
        told = case.target.told(args, unread, wanted)
        self._note_dtype(case, args, told.answer)
        self.require_right(case, args, told.answer, score, alike)
        _require_gradients(told.gradients, case.is_half)
        if told.written and case.target.entry.name in self.left_alone:
            raise WritesToInput(f"writes to its input {told.written[0]} in place")

    def answer(self, case: Case, args: Sequence[Any]) -> Answer | None:
        """Return the answer to other inputs; None if the reference refuses them.

        If it is known in which dtype the reference answers, it is run in float64 only. That mostly
        suffices to see that an answer is right, and saves a run in half precision.
        """
        self.context.session.settle()
        with self.allowing(case):
            unread = case.target.ask(args, {}, self._dtype_known(case, args))
        if unread is None:
            return None
        answer = case.target.told(args, unread).answer
        self._note_dtype(case, args, answer)
        return answer

    def _note_dtype(self, case: Case, args: Sequence[Any], answer: Answer) -> None:
        if case.target.identity() is not None:
            dtypes = _dtypes_of(case, args)
            self._answered_in.setdefault(dtypes, _only_dtype_of(answer.expected))

    def _dtype_known(self, case: Case, args: Sequence[Any]) -> torch.dtype | None:
        """Return the dtype in which the reference answers, if it was seen and keeps no state."""
        if case.target.identity() is None:
            return None
        return self._answered_in.get(_dtypes_of(case, args))

    def require_right(
        self,
        case: Case,
        args: Sequence[Any],
        answer: Answer,
        score: float = 0.0,
        alike: Sequence[Any] | None = None,
    ) -> None:
        """Assert that the results that were right in a plain call are right in this one.

        Args:
            case: The question.
            args: The arguments of the call.
            answer: The call's answer.
            score: The largest score, which a reference without a softmax does not show.
            alike: Other arguments, if only numbers that the reference gives for both are compared.

        Raises:
            CheckFailure: If a result is wrong.
        """
        dtype = self._dtype_known(case, args)
        if dtype is not None:
            nearest = functools.partial(case.target.nearest, dtype=dtype)
            with suppress(CheckFailure):
                _require_right(case, args, answer, score, _known(answer, args, alike, nearest))
                return
            try:
                answer = answer.against(case.target.expected(args))
            except Exception:  # the reference refuses this dtype: it is outside the domain
                return
        known = _known(answer, args, alike, case.target.expected)
        _require_right(case, args, answer, score, known)


def pairs_of(case: Case, sizes: Mapping[str, int]) -> int:
    """Return how many pairs of positions a call has, of all items and heads.

    Args:
        case: The question.
        sizes: By letter, and those of leading axes without one.
    """
    lengths = [sizes[one] for one in case.long] or [1]
    heads = max([1, *(size for name, size in sizes.items() if name in _HEADS)])
    items = math.prod(sizes.get(one, 1) for one in ("B", *LEADING))
    return items * heads * max(lengths) * min(lengths)


def _form(case: Case) -> tuple[object, ...]:
    """Return which entry is called, and what it is given."""
    return case.target.entry.name, form_of(case)


def _dtypes_of(case: Case, args: Sequence[Any]) -> tuple[object, ...]:
    """Return what the dtype of a result may depend on."""
    given = (value.dtype if isinstance(value, Tensor) else None for value in leaves([*args]))
    return case.target.entry.name, case.dtype, *given


def _only_dtype_of(expected: Any) -> torch.dtype | None:
    """Return the floating dtype of a result, if there is only one."""
    own = {one.rounded.dtype for one in leaves(expected) if isinstance(one, Expected)}
    floating = [one for one in own if one.is_floating_point]
    return floating[0] if len(floating) == 1 else None


def _known(
    answer: Answer,
    args: Sequence[Any],
    alike: Sequence[Any] | None,
    expected: Callable[[Sequence[Any]], Any],
) -> Answer | None:
    """Return the answer beside what is expected for other arguments, if there are any."""
    return None if alike is None or alike is args else answer.against(expected(alike))


def _require_right(
    case: Case, args: Sequence[Any], answer: Answer, score: float, known: Answer | None
) -> None:
    """Assert that an answer is right; with `known`, only where both expectations agree."""
    slack = _SLACK_HALF if case.is_half else SLACK
    for name in case.names:
        pairs = answer.pairs(name)
        if known is not None:
            pairs = map(_where_known, pairs, known.pairs(name))
        for found, wanted, label in pairs:
            if wanted.is_telling:
                if score > wanted.largest_logit:
                    wanted = replace(wanted, largest_logit=score)
                if wanted.is_nothing and (level := _largest_level(args)):
                    wanted = replace(wanted, scale=_CANCELLED * level)
                compare(found, wanted, label, slack)


def _largest_level(args: Sequence[Any]) -> float:
    """Return the largest magnitude in inputs whose rows hold one number each; 0 without such."""
    given = [one for one in leaves([*args]) if isinstance(one, Tensor) and one.is_floating_point()]
    rows = [one for one in given if one.ndim > 1 and one.shape[-1] > 1 and one.numel()]
    level = [one for one in rows if bool((one == one[..., :1]).all())]
    return max((float(one.abs().max()) for one in level), default=0.0)


def _require_gradients(gradients: Sequence[Gradient], is_half: bool) -> None:
    """Assert that gradients are right beyond rounding; in half precision that they are not far off.

    Raises:
        CheckFailure: Naming the first that is missing or wrong.
    """
    known = [one for one in gradients if not one[2].has_nan]
    if not is_half:
        for one in known:
            try:
                require_gradients([one])
            except CheckFailure as failure:
                if failure.margin is None or failure.margin > SLACK:
                    raise
        return
    for label, gradient, expected in known:
        size = float(expected.exact.norm())
        if expected.is_telling and size > expected.tolerance() * expected.exact.numel() ** 0.5:
            off = size if gradient is None else float((gradient.double() - expected.exact).norm())
            if not off <= _FAR * size:
                raise CheckFailure(f"the gradient of {label} is missing, or far off")


def unmoved(one: Expected, other: Expected) -> Tensor:
    """Return where the reference gives the same number for two calls; NaN is never the same."""
    return (one.exact - other.exact).abs_() <= _SAME * one.size


def _where_known(compared: Compared, known: Compared) -> Compared:
    """Return a result with the reference's numbers wherever the contract does not define them."""
    (found, wanted, label), (_, elsewhere, _) = compared, known
    found = require_form(found, wanted, label)
    return torch.where(unmoved(elsewhere, wanted), found, elsewhere.rounded), elsewhere, label


def must_raise(asking: Asking, case: Case, args: Sequence[Any], why: str, mode: str = "") -> Later:
    """Begin a call that must raise; if it does not, the failure says what was accepted.

    Args:
        asking: Asks the candidate.
        case: The question.
        args: As they are in the contract.
        why: What the contract rules out.
        mode: The gradient mode.
    """
    sent = asking.living(case).target.begin(args, manner={"mode": mode} if mode else {})

    def finding() -> Finding:
        try:
            return refused(sent.wait, why)
        except NeverAsked:
            living = asking.living(case).target
            return refused(lambda: living.attempt(*args, mode=mode), why)

    return finding


def refused(call: Callable[[], object], why: str) -> Finding:
    """Return whether a call raises, as it must."""
    try:
        require_refusal(call, why)
    except CheckFailure as failure:
        return Finding("", failure, "sizes")
    return Finding("", None, "sizes")


def in_turn(begun: Iterable[Later]) -> Iterator[Finding]:
    """Yield findings, each once the next question is asked, so that the worker need not wait."""
    before: Later | None = None
    for later in begun:
        if before is not None:
            yield before()
        before = later
    if before is not None:
        yield before()


def sizes_in_words(letters: Mapping[str, int]) -> str:
    """Return sizes as a report speaks of them, as in "L = 97 and S = 97"."""
    return " and ".join(f"{letter} = {size}" for letter, size in letters.items())
