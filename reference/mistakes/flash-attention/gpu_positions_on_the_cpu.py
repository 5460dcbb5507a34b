'''
title = "The positions for the causal mask are made on the CPU"
killed_by = "gpu-device"
explanation = """
On a CPU nothing shows. On a GPU torch refuses to mix the tensor, which lies in the CPU's \
memory, with the others, which lie in the GPU's."""
hint = "Where does torch.arange put a tensor if it is not told?"
device = "cuda"
by_check = true
says = "makes a tensor on the CPU"
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
    highest = torch.full_like(q[..., :1], -math.inf)
    total = torch.zeros_like(q[..., :1])
    output = q.new_zeros((*q.shape[:-1], v.shape[-1]))
    query = torch.arange(q.shape[-2]).unsqueeze(-1)
    key = torch.arange(k.shape[-2])
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
