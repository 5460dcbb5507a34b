# expect: rejected
# problem: flash-attention
# mistake: sums are rescaled only where a block rises by more than 10, so that many small rises overflow
import math

import torch


def flash_attention(q, k, v, block_size, causal=False):
    if block_size < 1 or q.size(-1) != k.size(-1) or k.size(-2) != v.size(-2):
        raise ValueError("sizes do not fit")
    dtype = q.dtype
    exact = torch.promote_types(dtype, torch.float32)
    q, k, v = q.to(exact) / math.sqrt(q.size(-1)), k.to(exact), v.to(exact)
    row = torch.arange(q.size(-2), device=q.device)[:, None]
    m = top = None
    for start in range(0, k.size(-2), block_size):
        kb, vb = k[..., start : start + block_size, :], v[..., start : start + block_size, :]
        scores = q @ kb.transpose(-2, -1)
        if causal:
            col = torch.arange(start, start + kb.size(-2), device=q.device)
            scores = scores.masked_fill(col > row, -1e30)
        best = scores.detach().amax(-1, keepdim=True)
        if m is None:
            m = top = best
            p = torch.exp(scores - m)
            l, o = p.sum(-1, keepdim=True), p @ vb
            continue
        rise = torch.maximum(top, best) - top
        top = torch.maximum(top, best)
        if bool((rise > 10).any()):  # rescaling is rare: exp(10) does no harm
            f = torch.exp(m - top)
            l, o, m = f * l, f * o, top
        p = torch.exp(scores - m)
        l, o = l + p.sum(-1, keepdim=True), o + p @ vb
    return (o / l).to(dtype)
