# expect: accepted
# problem: flash-attention
# no running output: one walk for the maximum and the sum, a second one for the values
import functools

import torch


def flash_attention(q, k, v, block_size, causal=False):
    n, s = q.shape[-2], k.shape[-2]
    if v.shape[-2] != s:
        raise ValueError("one value for each key")
    starts = list(range(0, s, block_size)) if block_size > 0 else None
    if not starts:
        raise ValueError("block_size must be positive")

    def logits(lo):
        x = torch.einsum("...ld,...sd->...ls", q, k[..., lo : lo + block_size, :])
        x = x / (q.shape[-1] ** 0.5)
        if causal:
            allowed = torch.arange(n).view(-1, 1) >= torch.arange(lo, lo + x.shape[-1])
            x = x.masked_fill(~allowed, float("-inf"))
        return x

    peak = functools.reduce(torch.maximum, (logits(lo).amax(-1, keepdim=True) for lo in starts)).detach()
    z = sum(torch.exp(logits(lo) - peak).sum(-1, keepdim=True) for lo in starts)
    return sum((torch.exp(logits(lo) - peak) / z) @ v[..., lo : lo + block_size, :] for lo in starts)
