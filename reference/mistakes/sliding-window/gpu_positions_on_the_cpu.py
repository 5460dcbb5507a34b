'''
title = "The positions of the windows are made on the CPU"
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


def sliding_window_attention(q, k, v, window):
    if not q.shape == k.shape == v.shape:
        raise ValueError(
            f"q {tuple(q.shape)}, k {tuple(k.shape)} and v {tuple(v.shape)} must have one shape"
        )
    if window < 1:
        raise ValueError(f"a window of {window} shows a query nothing; 1 is the smallest")
    length = q.shape[-2]
    offsets = torch.arange(1 - min(window, length), 1)
    places = torch.arange(length).unsqueeze(1) + offsets
    keys = k[..., places.clamp(min=0), :]
    values = v[..., places.clamp(min=0), :]
    scores = torch.einsum("bhld,bhlwd->bhlw", q, keys) / math.sqrt(q.shape[-1])
    scores = scores.masked_fill(places < 0, -math.inf)
    weights = torch.softmax(scores, dim=-1)
    return torch.einsum("bhlw,bhlwd->bhld", weights, values)
