# expect: rejected
# problem: flash-attention
# mistake: the maximum of the first block is never updated
# diagnosis: maximum-of-first-block
import torch


def flash_attention(q, k, v, block_size, causal=False):
    if block_size < 1 or k.shape[-2] != v.shape[-2]:
        raise ValueError
    stable = None
    top = bottom = 0.0
    for lo in range(0, k.shape[-2], block_size):
        z = torch.matmul(q, k[..., lo : lo + block_size, :].transpose(-2, -1)) / q.shape[-1] ** 0.5
        if causal:
            z = z.masked_fill(
                torch.arange(lo, lo + z.shape[-1])[None] > torch.arange(z.shape[-2])[:, None], -torch.inf
            )
        if stable is None:
            stable = z.amax(-1, keepdim=True)
        w = (z - stable).exp()
        top = top + w @ v[..., lo : lo + block_size, :]
        bottom = bottom + w.sum(-1, keepdim=True)
    return top / bottom
