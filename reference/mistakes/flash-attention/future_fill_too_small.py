'''
title = "Future scores get a constant that is not low enough"
killed_by = "later-keys-are-not-felt"
explanation = """
exp of a number like −10 is small and not 0: a later key with a large value shows in the \
output."""
hint = "What does a weight of 0.00005 do to a value of 1000?"
[variants]
replace = "-10.0"
by = ["-1.0", "-5.0", "-20.0", "-30.0", "-50.0", "-99.0", "-100.0", "-1000.0"]
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
            scores = scores.masked_fill(key[block] > query, -10.0)
        raised = torch.maximum(highest, scores.detach().amax(-1, keepdim=True))
        shrink = torch.exp(highest - raised)
        weights = torch.exp(scores - raised)
        total = shrink * total + weights.sum(-1, keepdim=True)
        output = shrink * output + weights @ v[..., block, :]
        highest = raised
    return output / total
