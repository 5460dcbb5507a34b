# problem: beam-search
"""Beam search over a language model: sums of log-probabilities, an end token, a length penalty."""

from collections.abc import Callable

import torch
from torch import Tensor


def beam_search(
    score: Callable[[Tensor], Tensor],
    prefix: Tensor,
    beams: int,
    steps: int,
    end: int,
    alpha: float = 0.0,
) -> tuple[Tensor, Tensor]:
    """Return the best continuations of a prefix that a search with a few beams finds.

    Args:
        score: From token ids (N, T + t), int64, to the logits of the next token (N, V).
        prefix: (T,), int64.
        beams: How many beams are kept.
        steps: How many tokens a beam gets at most.
        end: The token that finishes a beam.
        alpha: The exponent of the length penalty.

    Returns:
        Tokens (B, T + t), int64, the best beam first, and their scores (B,).

    Raises:
        ValueError: If an argument is out of its range.
    """
    # TODO
    raise NotImplementedError
