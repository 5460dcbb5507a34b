"""Sampling a token: temperature, top-k, top-p and min-p, then inversion of the cumulative sums."""
# V size of the vocabulary

import math

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

    With T the temperature, pᵢ = exp(xᵢ / T) / Σⱼ exp(xⱼ / T). A filter removes tokens, and the sum
    then runs over those that are left. Filters apply in the order of the arguments:

        top-k   xᵢ must not be less than the k-th logit in descending order
        top-p   Σ pⱼ over the tokens before i, in descending order of p, must be less than top_p;
                the first token always stays
        min-p   pᵢ must not be less than min_p · maxⱼ pⱼ

    Args:
        logits: (…, V), floating point; −inf entries get 0. Each row has a finite one.
        temperature: What logits are divided by; 0 gives the greatest, of several that with the
            lowest id, probability 1.
        top_k: From 1 on, also beyond V; None for no such filter.
        top_p: From 0 to 1; None for no such filter.
        min_p: From 0 to 1; None for no such filter.

    Returns:
        (…, V), in the dtype of `logits`; each row sums to 1.

    Raises:
        ValueError: If an argument is out of its range.

    Sources:
        Fan et al. 2018, arXiv:1805.04833, section 5, "Generation", for top-k; Holtzman et al. 2020,
        arXiv:1904.09751, equation 2 for top-p and equation 4 for the temperature; Nguyen et al.
        2024, arXiv:2407.01082, section 3, for min-p.
    """
    if temperature < 0:
        raise ValueError(f"a temperature of {temperature}; it must not be negative")
    if top_k is not None and top_k < 1:
        raise ValueError(f"top_k of {top_k}; at least 1 is needed")
    for share in (top_p, min_p):
        if share is not None and not 0 <= share <= 1:
            raise ValueError(f"top_p or min_p of {share}; from 0 to 1 is possible")

    if temperature == 0:
        best = logits.argmax(-1, keepdim=True)  # (…, 1)
        return torch.zeros_like(logits).scatter(-1, best, 1.0)  # (…, V)
    # sums of many small shares are lost in half precision
    scores = logits.to(torch.promote_types(logits.dtype, torch.float32))
    scores = scores / temperature  # (…, V)
    if top_k is not None:
        kth = scores.topk(min(top_k, scores.shape[-1])).values[..., -1:]  # (…, 1)
        scores = scores.masked_fill(scores < kth, -math.inf)
    if top_p is not None:
        ordered, ids = scores.softmax(-1).sort(descending=True)  # (…, V) each
        before = ordered.cumsum(-1) - ordered  # what the more probable tokens hold together
        removed = before >= top_p
        removed[..., 0] = False
        scores = scores.masked_fill(removed.scatter(-1, ids, removed), -math.inf)
    if min_p is not None:
        shares = scores.softmax(-1)
        removed = shares < min_p * shares.amax(-1, keepdim=True)
        scores = scores.masked_fill(removed, -math.inf)
    return scores.softmax(-1).to(logits.dtype)


def sample(probabilities: Tensor, uniform: Tensor) -> Tensor:
    """Return for each row the lowest id whose cumulative probability exceeds the row's number.

    That is F⁻¹(u) = min {i : p₀ + … + pᵢ > u}. Where rounding leaves the whole sum at or below u,
    it is the last token whose probability is not 0.

    Args:
        probabilities: (…, V), each row sums to 1 but for rounding.
        uniform: (…), numbers from 0 to below 1.

    Returns:
        Token ids, (…), int64; never of a token with probability 0.

    Raises:
        ValueError: If there is not one number for each row.

    Source:
        Devroye 1986, "Non-Uniform Random Variate Generation", chapter III.2.
    """
    if uniform.shape != probabilities.shape[:-1]:
        raise ValueError(f"{tuple(uniform.shape)} numbers for {tuple(probabilities.shape)}")
    sums = probabilities.to(torch.promote_types(probabilities.dtype, torch.float32)).cumsum(-1)
    ids = (sums <= uniform.unsqueeze(-1)).sum(-1)  # (…), V where rounding leaves no sum above
    every = torch.arange(probabilities.shape[-1], device=probabilities.device)
    last = every.where(probabilities > 0, 0).amax(-1)  # (…)
    return ids.minimum(last)
