'''
title = "On a GPU the inputs are rounded to half precision"
killed_by = "gpu-float32"
explanation = """
Half precision is faster on a GPU and has three digits. A caller who passes float32 asked for \
seven."""
hint = "In which dtype does the caller want the answer to be right?"
device = "cuda"
by_chance = true
'''

import math

import torch


def flash_attention(q, k, v, block_size, causal=False):
    if block_size < 1:
        raise ValueError(f"a block of {block_size} keys; at least 1 is needed")
    if q.shape[-1] != k.shape[-1]:
        raise ValueError(f"q is {q.shape[-1]} wide and k {k.shape[-1]}; both need width D")
    if k.shape[-2] != v.shape[-2]:
        raise ValueError(f"k holds {k.shape[-2]} positions and v {v.shape[-2]}; both need S")
    if causal and q.shape[-2] != k.shape[-2]:
        raise ValueError(f"causal attention needs L = S, not {q.shape[-2]} and {k.shape[-2]}")
    q, k, v = (x.half().to(x.dtype) if x.is_cuda else x for x in (q, k, v))
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
    return output / total
