"""Ways to call an answer to observe its cost, which must hold in each, and in a backward pass."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from torch import Tensor

from mha_judge.grading.calling.manner import AXES
from mha_judge.grading.calling.replies import Observed
from mha_judge.grading.calling.target import Target
from mha_judge.grading.draw import Draw


def ways_to_observe(draw: Draw, inputs: int) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield ways to call, in words and as arguments of `observe`: the most usual first.

    A training step comes first, then each mode without gradients, then single inputs that require
    them, and last all but one of several. Memory layouts follow from the seed.

    Args:
        draw: The check's inputs.
        inputs: How many of the first inputs are floating tensors.
    """
    every = range(inputs)
    asked = [("", tuple(every)), ("no_grad", ()), ("inference_mode", ())]
    asked += [("", (one,)) for one in every if inputs > 1]
    asked += [("", tuple(other for other in every if other != one)) for one in every if inputs > 2]
    layouts = [list(AXES["layout"])[index] for index in draw.permutation(len(AXES["layout"]))]
    for number, (mode, wrt) in enumerate(asked):
        layout = layouts[number % len(layouts)]
        learning = f"with gradients for input {' and '.join(str(one + 1) for one in wrt)}"
        words = [AXES["mode"][mode], learning if wrt else "", AXES["layout"][layout]]
        yield " ".join(filter(None, words)), {"mode": mode, "wrt": wrt, "layout": layout}


def observe_way_back(
    target: Target, draw: Draw, *args: Any, learning: int, output: tuple[int, ...]
) -> Observed:
    """Return what the backward pass of a call does.

    Args:
        target: What is called.
        draw: The check's inputs.
        args: The contract's arguments.
        learning: How many of the first arguments require gradients.
        output: The shape of what the call returns first.
    """
    cotangents: list[Tensor | None] = [draw.normal(*output)]
    return target.observe_backward(*args, wrt=range(learning), cotangents=cotangents)
