"""Exact attention with one block of keys at a time."""
# L query length  S key length  D head size  Dv head size of values  b keys in a block

import math

import torch
from torch import Tensor


def flash_attention(
    q: Tensor, k: Tensor, v: Tensor, block_size: int, causal: bool = False
) -> Tensor:
    """Return softmax(q kᵀ / √D) v without ever holding all scores.

    For each query three things are kept: the highest score so far m, the sum of exponentials
    l = Σ exp(s − m) and the weighted values o = Σ exp(s − m) v over the keys so far. A block
    with a new maximum m′ multiplies what was summed by exp(m − m′):

        l ← exp(m − m′) l + Σ exp(s − m′)
        o ← exp(m − m′) o + Σ exp(s − m′) v

    and o / l is the output when all blocks are done.

    Args:
        q: Queries, (…, L, D), floating point.
        k: Keys, (…, S, D), same dtype and leading dimensions.
        v: Values, (…, S, Dv), same dtype and leading dimensions.
        block_size: How many keys are looked at together, at least 1; the last block may be
            smaller.
        causal: Whether query i attends to keys 0 … i alone; L = S then.

    Returns:
        Output (…, L, Dv), in the dtype of `q`.

    Raises:
        ValueError: If `q` and `k` differ in width, `k` and `v` in length, `q` and `k` in length
            where attention is causal, or if a block holds less than one key.

    Sources:
        Milakov and Gimelshein 2018, arXiv:1805.02867, algorithm 3 (the online softmax).
        Dao et al. 2022, arXiv:2205.14135, algorithm 1, and Dao 2023, arXiv:2307.08691,
        section 3.1.1 (division by l at the end alone). Theirs also walk over blocks of queries,
        which hardware needs and the mathematics does not.
    """
    if block_size < 1:
        raise ValueError(f"a block of {block_size} keys; at least 1 is needed")
    if q.shape[-1] != k.shape[-1]:
        raise ValueError(f"q is {q.shape[-1]} wide and k {k.shape[-1]}; both need width D")
    if k.shape[-2] != v.shape[-2]:
        raise ValueError(f"k holds {k.shape[-2]} positions and v {v.shape[-2]}; both need S")
    if causal and q.shape[-2] != k.shape[-2]:
        raise ValueError(f"causal attention needs L = S, not {q.shape[-2]} and {k.shape[-2]}")

    highest = torch.full_like(q[..., :1], -math.inf)  # (…, L, 1)
    total = torch.zeros_like(q[..., :1])  # (…, L, 1)
    output = q.new_zeros((*q.shape[:-1], v.shape[-1]))  # (…, L, Dv)
    query = torch.arange(q.shape[-2], device=q.device).unsqueeze(-1)  # (L, 1)
    key = torch.arange(k.shape[-2], device=q.device)  # (S,)

    for start in range(0, k.shape[-2], block_size):
        block = slice(start, start + block_size)
        scores = q @ k[..., block, :].transpose(-2, -1) / math.sqrt(q.shape[-1])  # (…, L, b)
        if causal:
            scores = scores.masked_fill(key[block] > query, -math.inf)
        # the maximum cancels out of the result, so no gradient has to flow through it
        raised = torch.maximum(highest, scores.detach().amax(-1, keepdim=True))  # (…, L, 1)
        shrink = torch.exp(highest - raised)
        weights = torch.exp(scores - raised)
        total = shrink * total + weights.sum(-1, keepdim=True)
        output = shrink * output + weights @ v[..., block, :]
        highest = raised
    return output / total  # (…, L, Dv)
