# expect: rejected
# problem: flash-attention
# mistake: a short tail is taken together with the last block
import math

import torch


def _bounds(length, block_size):
    edges = list(range(0, length, block_size)) + [length]
    # a short tail is not worth a pass of its own: the block before takes it along
    if len(edges) > 2 and edges[-1] - edges[-2] < block_size // 2:
        del edges[-2]
    return list(zip(edges[:-1], edges[1:]))


def flash_attention(q, k, v, block_size, causal=False):
    if block_size < 1:
        raise ValueError("block_size must be positive")
    if q.shape[-1] != k.shape[-1] or k.shape[-2] != v.shape[-2]:
        raise ValueError("sizes do not fit")
    if q.shape[:-2] != k.shape[:-2] or q.shape[:-2] != v.shape[:-2]:
        raise ValueError("leading sizes differ")
    dtype = q.dtype
    work = torch.float32 if dtype in (torch.float16, torch.bfloat16) else dtype
    q = q.to(work) / math.sqrt(q.shape[-1])
    length = q.shape[-2]
    m = q.new_full((*q.shape[:-1], 1), -math.inf)
    total = q.new_zeros((*q.shape[:-1], 1))
    out = q.new_zeros((*q.shape[:-1], v.shape[-1]))
    rows = torch.arange(length, device=q.device)[:, None]
    for start, stop in _bounds(k.shape[-2], block_size):
        s = q @ k[..., start:stop, :].to(work).transpose(-1, -2)
        if causal:
            s = s.masked_fill(torch.arange(start, stop, device=q.device) > rows, -math.inf)
        top = torch.maximum(m, s.amax(-1, keepdim=True).detach())
        p = torch.exp(s - top)
        factor = torch.exp(m - top)
        total = factor * total + p.sum(-1, keepdim=True)
        out = factor * out + p @ v[..., start:stop, :].to(work)
        m = top
    return (out / total).to(dtype)
