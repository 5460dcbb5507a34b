'''
title = "The scores of blocked keys are made on the CPU"
killed_by = "gpu-device"
explanation = """
On a CPU nothing shows. On a GPU torch refuses to mix the tensor, which lies in the CPU's \
memory, with the others, which lie in the GPU's."""
hint = "Where does torch.full put a tensor if it is not told?"
device = "cuda"
by_check = true
says = "makes a tensor on the CPU"
'''

import math

import torch


def scaled_dot_product_attention(q, k, v, mask=None):
    if q.shape[-1] != k.shape[-1]:
        raise ValueError(f"q is {q.shape[-1]} wide and k {k.shape[-1]}; both need width D")
    if k.shape[-2] != v.shape[-2]:
        raise ValueError(f"k holds {k.shape[-2]} positions and v {v.shape[-2]}; both need S")
    if not q.shape[:-2] == k.shape[:-2] == v.shape[:-2]:
        raise ValueError(
            f"leading dimensions differ: q {tuple(q.shape)}, k {tuple(k.shape)}, v {tuple(v.shape)}"
        )
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    if mask is not None:
        scores = torch.where(
            (mask == 0).expand_as(scores),
            torch.full(scores.shape, -math.inf, dtype=scores.dtype),
            scores,
        )
    weights = torch.softmax(scores, dim=-1)
    return (weights @ v, weights)
