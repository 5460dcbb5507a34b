# problem: sampling
"""Sampling a token: temperature, top-k, top-p and min-p, then inversion of the cumulative sums."""

import torch
from torch import Tensor


def filtered_probabilities(
    logits: Tensor,
    temperature: float = 1.0,
    top_k: int | None = None,
    top_p: float | None = None,
    min_p: float | None = None,
) -> Tensor:
    """Return the probabilities of the tokens that all filters leave; 0 for the others.

    Args:
        logits: (…, V), floating point; −inf entries get 0.
        temperature: What logits are divided by; 0 leaves the greatest alone.
        top_k: How many tokens stay, those with the greatest logits; None for all.
        top_p: The share that the most probable tokens must reach; None for no such filter.
        min_p: The least probability, as a share of the greatest; None for no such filter.

    Returns:
        (…, V), in the dtype of `logits`; each row sums to 1.

    Raises:
        ValueError: If an argument is out of its range.
    """
    # TODO
    raise NotImplementedError


def sample(probabilities: Tensor, uniform: Tensor) -> Tensor:
    """Return for each row the lowest id whose cumulative probability exceeds the row's number.

    Args:
        probabilities: (…, V), each row sums to 1 but for rounding.
        uniform: (…), numbers from 0 to below 1.

    Returns:
        Token ids, (…), int64; never of a token with probability 0.

    Raises:
        ValueError: If the shapes do not belong together.
    """
    # TODO
    raise NotImplementedError
