"""Puts the candidate's calls to another program, and compares the results."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from functools import cached_property
from typing import Any, TypeVar

import torch
from torch import Tensor

from mha_judge.diagnosis.matching import (
    ALIKE,
    CLOSE,
    NEAR,
    SAME,
    alike,
    nearness,
    same_answer,
    same_error,
)
from mha_judge.diagnosis.mistaken_entry import EXACT, ROUNDED, MistakenEntry
from mha_judge.diagnosis.programs import Program
from mha_judge.grading.calling.replies import Called
from mha_judge.grading.calling.sheet import AnswerSheet
from mha_judge.grading.calling.stateful import Bound, Stateful
from mha_judge.grading.calling.target import Target
from mha_judge.grading.calling.trace import Asked, Step
from mha_judge.grading.expecting.answer import by_name
from mha_judge.grading.expecting.arrays import returned
from mha_judge.grading.expecting.bounds import is_out_of_memory
from mha_judge.grading.expecting.compare import compare
from mha_judge.grading.expecting.expected import (
    Expected,
    Live,
    Logits,
    exact_copy,
    gradients,
    in_float64,
    leaves,
    pair_up,
    rounded_copy,
)
from mha_judge.grading.failures import CheckFailure, Raised
from mha_judge.wire import map_tree

_Answer = TypeVar("_Answer")
Kept = dict[int, tuple[Any, Any]]
"""By the number of a request, what a program returned, exact and rounded."""


def tensors_of(step: Step) -> list[Tensor]:
    """Return the tensors that the candidate returned; a failure, words, or a look at a cache have
    none."""
    if not isinstance(step.found, Called):
        return []
    value = returned(step.target.entry, step.found.value)
    return [leaf for leaf in leaves(value) if isinstance(leaf, Tensor)]


class Replay:
    """A program in the candidate's place: the reference, or a mistake."""

    def __init__(
        self, program: Program, truth: Replay | None = None, *, is_whole: bool = True
    ) -> None:
        """Take a program.

        Args:
            program: What is put in the candidate's place.
            truth: The reference, which shows what form of result is graded.
            is_whole: False if it only fills in for another that gives NaN.
        """
        self._program = program
        self._truth = truth
        self._is_whole = is_whole
        self._mistaken_entries: dict[int, MistakenEntry] = {}

    @cached_property
    def _without_infinity(self) -> list[Replay]:
        return [Replay(one, is_whole=False) for one in self._program.without_infinity]

    def agrees(self, steps: Sequence[Step], *, plainly: bool = False) -> bool:
        """Return whether this program answers every step as the candidate did.

        Args:
            steps: The candidate's steps.
            plainly: Compare the program's NaN as NaN, and do not fill it in.
        """
        for mistaken_entry in self._mistaken_entries.values():
            mistaken_entry.forget()
        kept: Kept = {}
        return all(self._agrees(step, kept, plainly) for step in steps)

    def release(self) -> None:
        """Release all layers and objects."""
        for mistaken_entry in self._mistaken_entries.values():
            mistaken_entry.release()
        self._mistaken_entries = {}
        for other in self.__dict__.pop("_without_infinity", ()):
            other.release()

    def changes(self, steps: Sequence[Step], truth: Replay) -> bool:
        """Return whether the program's result of the last step differs from the reference's.

        On an object that keeps a state, all steps are replayed, and any of them may differ.
        """
        chained = any(step.target.chained for step in steps)
        asked = steps if chained else steps[-1:]
        own, right = (list(leaves(replay._results(asked))) for replay in (self, truth))
        return len(own) != len(right) or not all(
            alike(*both, ALIKE) for both in zip(own, right, strict=True)
        )

    def nearness(self, step: Step) -> float:
        """Return how near a call's numbers are to the candidate's: 1 if all are equal, 0 if far."""
        pairs = self._pairs(step)
        every = sum(nearness(*pair) * pair[0].numel() for pair in pairs)
        return every / max(1, sum(one.numel() for one, _ in pairs))

    def has_number_for_nan(self, step: Step) -> bool:
        """Return whether the program gives a number where the candidate gave NaN."""
        return any(bool((found.isnan() & ~own.isnan()).any()) for found, own in self._pairs(step))

    def _pairs(self, step: Step) -> list[tuple[Tensor, Tensor]]:
        """Return the tensors of a call that both gave, the candidate's first; alike in form."""
        found = tensors_of(step)
        results = leaves(self._result(step)) if found else ()
        own = [one for one in results if isinstance(one, Tensor)]
        return [
            (one, other)
            for one, other in zip(found, own, strict=False)
            if one.shape == other.shape and one.dtype is other.dtype
        ]

    def _results(self, steps: Sequence[Step]) -> list[Any]:
        for mistaken_entry in self._mistaken_entries.values():
            mistaken_entry.forget()
        return [self._result(step) for step in steps]

    def _result(self, step: Step) -> Any:
        """Return the rounded result of a step, or the name of the exception's type."""
        if isinstance(step.target, AnswerSheet):
            answers = self._program.entry(step.target.entry.name)
            return answers.get(step.args[0]) if isinstance(answers, dict) else None
        try:
            return self._asking(step, {}).results()
        except Exception as error:  # a mistake may raise anything
            return type(error).__name__

    def _agrees(self, step: Step, kept: Kept, plainly: bool) -> bool:
        if step.failure is not None and not isinstance(step.failure, Raised):
            return False  # a hang or a crash says nothing of values
        if isinstance(step.target, AnswerSheet):
            return same_answer(
                step.found, self._program.entry(step.target.entry.name), step.args[0]
            )
        askings = itertools.islice(self._askings(step, kept), 1 if plainly else None)
        return any(_answers_alike(asking, step) for asking in askings)

    def _askings(self, step: Step, kept: Kept) -> Iterator[_Asking]:
        """Yield the step put to the program, then with its NaN filled in by other programs."""
        asking = self._asking(step, kept)
        yield asking
        if self._is_whole and not step.target.chained and asking.gives_nan():
            for other in self._without_infinity:
                yield _Filled(asking, other._asking(step, kept))
            if asking.is_told:
                yield _Filled(asking, None)

    def _asking(self, step: Step, kept: Kept) -> _Asking:
        return _Asking(self._mistaken_entry(step.target), step, kept, self._truth)

    def _mistaken_entry(self, target: Asked) -> MistakenEntry:
        assert isinstance(target, Target)
        owner: Target | Stateful = target
        name = target.entry.name
        if isinstance(target, Bound):
            owner, name = target.owner, target.owner.maker.entry.name
        if id(owner) not in self._mistaken_entries:
            self._mistaken_entries[id(owner)] = MistakenEntry(self._program.entry(name), target)
        mistaken_entry = self._mistaken_entries[id(owner)]
        mistaken_entry.target = target
        return mistaken_entry


def _answers_alike(asking: _Asking, step: Step) -> bool:
    """Return whether a program answers a step as the candidate did."""
    try:
        return asking.agrees()
    except CheckFailure:
        return False
    except Exception as error:  # a mistake may raise anything, as the candidate may
        if step.failure is None or is_out_of_memory(error):
            return False
        # if an object refuses, only later steps matter, not the words
        return step.target.chained or same_error(step.failure, error)


class _Asking:
    """One step, put to one program."""

    def __init__(
        self, mistaken_entry: MistakenEntry, step: Step, kept: Kept, truth: Replay | None
    ) -> None:
        self._mistaken_entry = mistaken_entry
        self._step = step
        self._kept = kept
        self._truth = truth

    def agrees(self) -> bool:
        step = self._step
        if step.options.get("read"):
            return self._kept_agrees()
        if step.failure is not None:
            self._call(ROUNDED)
            if step.cotangents is not None:
                self._gradients()
            return False  # the candidate raised and this program did not
        if step.options.get("inputs_after"):
            return self._inputs_agree()
        if step.cotangents is not None:
            return self._values_agree() and self._gradients_agree()
        return self._values_agree()

    @property
    def is_told(self) -> bool:
        """Whether the candidate's result is more than zeros."""
        found = leaves(self._step.found.value)
        return any(isinstance(leaf, Tensor) and bool((leaf != 0).any()) for leaf in found)

    def gives_nan(self) -> bool:
        """Return whether the program's result has NaN, for a step that the candidate answered."""
        asks_for_values = not {"read", "inputs_after"} & self._step.options.keys()
        if self._step.failure is not None or not asks_for_values:
            return False
        try:
            return any(map(_has_nan, leaves(self.results())))
        except Exception:  # a mistake may raise anything
            return False

    def results(self) -> list[Any]:
        """Return the program's result of a step, and its gradients if they were asked for."""
        if self._step.options.get("read"):
            return []
        results = [self._call(ROUNDED)[0]]
        if self._step.cotangents is not None:
            results += self._gradients()
        return results

    def _call(self, precision: int) -> tuple[Any, float]:
        """Return a call's result, and its largest score if it is in float64, else 0."""

        def ask() -> tuple[Any, float]:
            precise = in_float64() if precision == EXACT else nullcontext()
            with torch.no_grad(), precise:
                call, args = self._mistaken_entry.call(precision), self._arguments(precision)
                if precision == ROUNDED:
                    return call(*args), 0.0
                with Logits(of_rows=True) as logits:
                    return call(*args), logits.largest

        return self._remembered((precision,), ask)

    def _remembered(self, question: Sequence[object], ask: Callable[[], _Answer]) -> _Answer:
        """Return a result for a step, from memory if another replay has asked the same."""
        if self._step.options.get("keep") or any(
            isinstance(leaf, Live) for leaf in leaves(self._step.args)
        ):
            return ask()  # later calls may change the result
        return self._mistaken_entry.remembered((*question, self._step.args), ask)

    def _arguments(self, precision: int) -> list[Any]:
        """Return the arguments; a result that the candidate got back is replaced by our own."""

        def give(leaf: Any) -> Any:
            if isinstance(leaf, Live) and leaf.kept.call in self._kept:
                return self._live(leaf, precision)
            return exact_copy(leaf) if precision == EXACT else rounded_copy(leaf)

        return [map_tree(give, arg) for arg in self._step.args]

    def _live(self, leaf: Live, precision: int) -> Any:
        value = self._kept[leaf.kept.call][precision]
        for index in leaf.kept.path:
            value = value[index]
        if leaf.kept.turned:  # other replays look at it too
            value = map_tree(torch.clone, value)
        return leaf.kept.passed_on(value)

    def _values_agree(self) -> bool:
        found = self._step.found.value
        rounded, _ = self._call(ROUNDED)
        pairs = self._pairs(found, rounded)
        if not all(alike(*both, NEAR) for both in pairs):
            return False
        try:
            exact, largest = self._call(EXACT)
        except Exception:  # a mistake may raise anything, and in float64 only
            exact, largest = rounded, 0.0
        if self._step.options.get("keep") and self._step.number is not None:
            self._kept[self._step.number] = (exact, rounded)
        if all(alike(*both, SAME) for both in pairs):
            return True
        return self._within_budget(found, pair_up(_shown(exact, rounded), rounded, largest))

    def _within_budget(self, found: Any, own: Any) -> bool:
        for one, other in self._pairs(found, own):
            if isinstance(other, Expected):
                compare(one, other, "")
            elif one != other:
                return False
        return True

    def _pairs(self, found: Any, own: Any) -> list[tuple[Any, Any]]:
        """Return pairs of what the candidate and the program returned, by name, leaf by leaf."""
        entry = self._step.target.entry
        one, other = by_name(entry, found), by_name(entry, own)
        required = entry.returns[: entry.required_returns]
        optional = (name for name in entry.returns if name in one and name in other)
        pairs: list[tuple[Any, Any]] = []
        for name in dict.fromkeys((*required, *optional)):
            left, right = list(leaves(one.get(name))), list(leaves(other.get(name)))
            if name not in required and not _same_form(left, right):
                if self._is_graded(name, left):
                    return [(None, torch.zeros(1))]
                continue
            if len(left) != len(right):
                return [(None, torch.zeros(1))]
            pairs += list(zip(left, right, strict=True))
        return pairs

    def _is_graded(self, name: str, found: Sequence[Any]) -> bool:
        """Return whether an optional result has the reference's form; else it may be anything."""
        if self._truth is None or self._step.target.chained:
            return False
        results = self._truth._result(self._step)
        right = by_name(self._step.target.entry, results[0]) if isinstance(results, list) else {}
        return _same_form(found, list(leaves(right.get(name))))

    def _kept_agrees(self) -> bool:
        """Return whether an object that was returned earlier now equals the candidate's."""
        [live] = self._step.args
        if live.kept.call not in self._kept:
            return False
        own = list(leaves(self._live(live, ROUNDED)))
        found = list(leaves(self._step.found))
        return len(own) == len(found) and all(map(_alike, found, own))

    def _inputs_agree(self) -> bool:
        step = self._step
        assert isinstance(step.target, Target)
        args = self._arguments(ROUNDED)
        with torch.no_grad():
            self._mistaken_entry.call(ROUNDED)(*args)
        pairs = zip(leaves(args), leaves(step.target.inputs_of(step)), strict=False)
        return all(_alike(found, own) for own, found in pairs if isinstance(own, Tensor))

    def _gradients_agree(self) -> bool:
        found = self._step.found.gradients
        if found is None:
            return False
        for one, own in zip(found.inputs.values(), self._gradients(), strict=True):
            if not _alike(torch.zeros_like(own) if one is None else one, own):
                return False
        return True

    def _gradients(self) -> list[Tensor]:
        step = self._step
        cotangents, wrt = step.cotangents or (), step.wrt

        def ask() -> list[Tensor]:
            function = self._mistaken_entry.call(ROUNDED)
            return gradients(function, self._arguments(ROUNDED), cotangents, wrt, {})

        return self._remembered(("gradients", cotangents, wrt), ask)


class _Filled(_Asking):
    """One step put to a program, with another's numbers, or zeros, where the program gives NaN."""

    def __init__(self, asking: _Asking, other: _Asking | None) -> None:
        super().__init__(asking._mistaken_entry, asking._step, asking._kept, asking._truth)
        self._other = other

    def _call(self, precision: int) -> tuple[Any, float]:
        own, largest = super()._call(precision)
        return _filled(own, self._other and self._other._call(precision)[0]), largest

    def _pairs(self, found: Any, own: Any) -> list[tuple[Any, Any]]:
        """Return the pairs; a candidate's number counts as the one filled in if it is near it.

        A large number added to all scores of a row rounds them.
        """
        plain, _ = super()._call(ROUNDED)
        places = (place for _, place in super()._pairs(found, plain))
        pairs = zip(super()._pairs(found, own), places, strict=True)
        return [(_nearly(*both, place), both[1]) for both, place in pairs]

    def _gradients(self) -> list[Tensor]:
        filled: list[Tensor] = _filled(
            super()._gradients(), self._other and self._other._gradients()
        )
        return filled


def _has_nan(leaf: Any) -> bool:
    return isinstance(leaf, Tensor) and bool(leaf.isnan().any())


def _nearly(found: Any, own: Any, place: Any) -> Any:
    """Return `found` with the numbers of `own` where both are close and `place` is NaN."""
    numbers = own.rounded if isinstance(own, Expected) else own
    if not isinstance(found, Tensor) or not _has_nan(place) or found.shape != numbers.shape:
        return found
    near = (found - numbers).abs() <= CLOSE * numbers.abs().max()
    return torch.where(near & place.isnan(), numbers.to(found.dtype), found)


def _filled(tree: Any, other: Any) -> Any:
    """Return a tree of tensors with another's numbers, or zeros, in place of NaN."""
    numbers = iter(leaves(other)) if other is not None else itertools.repeat(torch.zeros(()))

    def fill(leaf: Any) -> Any:
        number = next(numbers)
        return torch.where(leaf.isnan(), number.to(leaf.dtype), leaf) if _has_nan(leaf) else leaf

    return map_tree(fill, tree)


def _shown(exact: Any, rounded: Any) -> Any:
    """Return a program's exact results, with what float64 does not show.

    A mistake may overflow, or be off by far, in the dtype of the question alone.
    """
    numbers = iter(leaves(rounded))

    def show(leaf: Any) -> Any:
        own = next(numbers)
        if not isinstance(leaf, Tensor) or not leaf.is_floating_point():
            return leaf
        own = own.to(leaf.dtype)
        shown = torch.where(own.isfinite(), leaf, own)
        return shown if alike(shown, own, NEAR) else own

    return map_tree(show, exact)


def _same_form(left: Sequence[Any], right: Sequence[Any]) -> bool:
    return [*map(_shape, left)] == [*map(_shape, right)]


def _shape(leaf: Any) -> Any:
    return getattr(leaf.rounded if isinstance(leaf, Expected) else leaf, "shape", None)


def _alike(found: Any, own: Any) -> bool:
    return alike(found, own, ALIKE)
