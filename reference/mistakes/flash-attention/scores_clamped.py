'''
title = "Scores are clamped to a range in which exp does not overflow"
killed_by = "large-logits"
explanation = """
Clamping keeps exp finite and makes scores equal that are not. Subtracting the maximum keeps \
it finite and changes nothing."""
hint = "Two keys with scores of 200 and 1000: which weights should they get?"
[variants]
replace = "80.0"
by = ["50.0", "60.0", "64.0", "70.0", "85.0", "88.0", "100.0", "20.0", "30.0"]
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
        scores = scores.clamp(-80.0, 80.0)
        if causal:
            scores = scores.masked_fill(key[block] > query, -math.inf)
        raised = torch.maximum(highest, scores.detach().amax(-1, keepdim=True))
        shrink = torch.exp(highest - raised)
        weights = torch.exp(scores - raised)
        total = shrink * total + weights.sum(-1, keepdim=True)
        output = shrink * output + weights @ v[..., block, :]
        highest = raised
    return output / total
