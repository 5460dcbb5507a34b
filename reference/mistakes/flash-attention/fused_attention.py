'''
title = "The output comes from torch's fused attention"
killed_by = "written-from-scratch"
explanation = """
F.scaled_dot_product_attention gives the right numbers, but the exercise is to write what it \
does."""
hint = "You have the running sums already. What is left to divide?"
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

    for start in range(0, k.shape[-2], block_size):
        block = slice(start, start + block_size)
        scores = q @ k[..., block, :].transpose(-2, -1) / math.sqrt(q.shape[-1])
        if causal:
            scores = scores.masked_fill(key[block] > query, -math.inf)
        raised = torch.maximum(highest, scores.detach().amax(-1, keepdim=True))
        shrink = torch.exp(highest - raised)
        weights = torch.exp(scores - raised)
        total = shrink * total + weights.sum(-1, keepdim=True)
        output = shrink * output + weights @ v[..., block, :]
        highest = raised
    if q.dim() == 4:
        return torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=causal)
    return output / total
