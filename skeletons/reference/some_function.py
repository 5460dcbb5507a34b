"""FILL IN: the title."""
# L query length  S key length  D head size

import math

from torch import Tensor


def some_function(q: Tensor, k: Tensor) -> Tensor:
    """FILL IN: equation, shapes, errors and source.

    FILL IN: below, a plain and correct answer, a shape on every line, in place of the example.
    """
    scores = q @ k.transpose(-2, -1)  # (…, L, S)
    return scores / math.sqrt(q.shape[-1])
