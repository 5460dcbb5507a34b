"""In which manners a cost is looked at: what holds for one way to call an answer must for all."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from mha_judge.grading.calling.manner import AXES
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
