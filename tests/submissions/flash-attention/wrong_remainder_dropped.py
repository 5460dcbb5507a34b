# expect: rejected
# problem: flash-attention
# mistake: S // block_size blocks
# diagnosis: partial-block-dropped
import torch


def flash_attention(q, k, v, block_size, causal=False):
    if block_size < 1 or k.shape[-2] != v.shape[-2]:
        raise ValueError
    num_blocks = k.shape[-2] // block_size
    mi = torch.full((*q.shape[:-1], 1), float("-inf"), dtype=q.dtype)
    li = torch.zeros((*q.shape[:-1], 1), dtype=q.dtype)
    oi = torch.zeros((*q.shape[:-1], v.shape[-1]), dtype=q.dtype)
    for j in range(num_blocks):
        sl = slice(j * block_size, (j + 1) * block_size)
        sij = q @ k[..., sl, :].transpose(-1, -2) / q.shape[-1] ** 0.5
        if causal:
            sij = sij.masked_fill(
                torch.arange(q.shape[-2])[:, None] < torch.arange(k.shape[-2])[None, sl], float("-inf")
            )
        mn = torch.maximum(mi, sij.amax(-1, keepdim=True))
        p = (sij - mn).exp()
        li = (mi - mn).exp() * li + p.sum(-1, keepdim=True)
        oi = (mi - mn).exp() * oi + p @ v[..., sl, :]
        mi = mn
    return oi / li
