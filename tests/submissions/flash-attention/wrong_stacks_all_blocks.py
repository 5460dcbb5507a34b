# expect: rejected
# problem: flash-attention
# mistake: all blocks at once, as one more axis
import torch
import torch.nn.functional as F


def flash_attention(q, k, v, block_size, causal=False):
    if block_size < 1 or k.shape[-2] != v.shape[-2]:
        raise ValueError
    S = k.shape[-2]
    pad = -S % block_size
    kb = F.pad(k, (0, 0, 0, pad)).unflatten(-2, (-1, block_size))
    vb = F.pad(v, (0, 0, 0, pad)).unflatten(-2, (-1, block_size))
    s = q.unsqueeze(-3) @ kb.transpose(-2, -1) / q.shape[-1] ** 0.5
    pos = torch.arange(S + pad).view(-1, 1, block_size)
    s = s.masked_fill(pos >= S, -torch.inf)
    if causal:
        s = s.masked_fill(pos > torch.arange(q.shape[-2])[:, None], -torch.inf)
    m = s.amax((-3, -1), keepdim=True)
    p = (s - m).exp()
    return (p @ vb).sum(-3) / p.sum(-1, keepdim=True).sum(-3)
