'''
title = "Nothing is corrected when the maximum rises"
killed_by = "values"
explanation = """
Each block subtracts the highest score so far, but the sums of earlier blocks still stand \
with the maximum of their time. Both have to be multiplied by exp(m − m′)."""
hint = """
Two keys in two blocks, scores 0 and 1: write down both exponentials as they are summed. \
What is their ratio?"""
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

    for start in range(0, k.shape[-2], block_size):
        block = slice(start, start + block_size)
        scores = q @ k[..., block, :].transpose(-2, -1) / math.sqrt(q.shape[-1])
        if causal:
            scores = scores.masked_fill(key[block] > query, -math.inf)
        raised = torch.maximum(highest, scores.detach().amax(-1, keepdim=True))
        shrink = 1.0
        weights = torch.exp(scores - raised)
        total = shrink * total + weights.sum(-1, keepdim=True)
        output = shrink * output + weights @ v[..., block, :]
        highest = raised
    return output / total
