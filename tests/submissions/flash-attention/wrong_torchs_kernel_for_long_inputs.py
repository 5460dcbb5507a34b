# expect: rejected
# problem: flash-attention
# mistake: written by hand for short inputs, torch's kernel for long ones
import math

import torch
import torch.nn.functional as F

LONG = 48


def flash_attention(q, k, v, block_size=16, causal=False):
    if block_size < 1 or k.shape[-2] != v.shape[-2] or q.shape[-1] != k.shape[-1]:
        raise ValueError("sizes do not fit")
    if q.shape[-2] > LONG:
        return F.scaled_dot_product_attention(q, k, v, is_causal=causal)
    best = torch.full_like(q[..., :1], -math.inf)
    total = torch.zeros_like(best)
    out = torch.zeros_like(q[..., :1] * v[..., :1, :])
    rows = torch.arange(q.shape[-2])[:, None]
    for start in range(0, k.shape[-2], block_size):
        kb, vb = k[..., start : start + block_size, :], v[..., start : start + block_size, :]
        s = q @ kb.transpose(-1, -2) / math.sqrt(q.shape[-1])
        if causal:
            s = s.masked_fill(start + torch.arange(kb.shape[-2]) > rows, -math.inf)
        new = torch.maximum(best, s.amax(-1, keepdim=True))
        p, old = torch.exp(s - new), torch.exp(best - new)
        total, out, best = total * old + p.sum(-1, keepdim=True), out * old + p @ vb, new
    return out / total
