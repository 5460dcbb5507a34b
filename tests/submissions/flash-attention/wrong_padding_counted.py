# expect: rejected
# problem: flash-attention
# mistake: zero keys fill up the last block and get weight
# diagnosis: padding-attended
import torch


def flash_attention(q, k, v, block_size, causal=False):
    if block_size < 1 or k.shape[-2] != v.shape[-2]:
        raise ValueError
    S = k.shape[-2]
    n = (S + block_size - 1) // block_size
    extra = n * block_size - S
    if extra:
        k = torch.cat([k, k.new_zeros(*k.shape[:-2], extra, k.shape[-1])], -2)
        v = torch.cat([v, v.new_zeros(*v.shape[:-2], extra, v.shape[-1])], -2)
    i = torch.arange(q.shape[-2])[:, None]
    m, l, o = None, 0, 0
    for b in range(n):
        j = torch.arange(b * block_size, (b + 1) * block_size)
        s = q @ k[..., j, :].transpose(-2, -1) / q.shape[-1] ** 0.5
        if causal:
            s = s.masked_fill(j > i, float("-inf"))
        top = s.amax(-1, keepdim=True) if m is None else torch.maximum(m, s.amax(-1, keepdim=True))
        f = 0 if m is None else (m - top).exp()
        p = (s - top).exp()
        l, o, m = f * l + p.sum(-1, keepdim=True), f * o + p @ v[..., j, :], top
    return o / l
