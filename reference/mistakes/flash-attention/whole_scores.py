'''
title = "All scores are computed at once, and only then cut into blocks"
killed_by = "memory"
explanation = """
The result is right, but q kᵀ of shape (L, S) stands in memory: that is what this algorithm \
exists to avoid. Only the scores of one block may exist at a time."""
hint = "For 100 000 positions, how many numbers does the largest tensor hold?"
by_check = true
'''

import math

import torch


def flash_attention(q, k, v, block_size, causal=False):
    if block_size < 1:
        raise ValueError("a block without keys")
    if q.shape[-1] != k.shape[-1]:
        raise ValueError("q and k differ in width")
    if k.shape[-2] != v.shape[-2]:
        raise ValueError("k and v differ in length")
    if causal and q.shape[-2] != k.shape[-2]:
        raise ValueError("causal attention needs L = S")

    highest = torch.full_like(q[..., :1], -math.inf)
    total = torch.zeros_like(q[..., :1])
    output = q.new_zeros((*q.shape[:-1], v.shape[-1]))
    query = torch.arange(q.shape[-2], device=q.device).unsqueeze(-1)
    key = torch.arange(k.shape[-2], device=q.device)

    every = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    for start in range(0, k.shape[-2], block_size):
        block = slice(start, start + block_size)
        scores = every[..., block]
        if causal:
            scores = scores.masked_fill(key[block] > query, -math.inf)
        raised = torch.maximum(highest, scores.detach().amax(-1, keepdim=True))
        shrink = torch.exp(highest - raised)
        weights = torch.exp(scores - raised)
        total = shrink * total + weights.sum(-1, keepdim=True)
        output = shrink * output + weights @ v[..., block, :]
        highest = raised
    return output / total
