# expect: rejected
# problem: dual-attention
# mistake: the shift is written for as many keys as queries
# diagnosis: square-only
import torch


def rel_shift(x):
    b, h, n, _ = x.shape
    x = torch.cat([torch.zeros(b, h, n, 1, dtype=x.dtype, device=x.device), x], -1)
    return x.view(b, h, n + 1, n)[:, :, 1:].reshape(b, h, n, n)


def dual_attention(q, k, v, r, content_bias, position_bias):
    ac = (q + content_bias[None, :, None]) @ k.transpose(-1, -2)
    bd = rel_shift((q + position_bias[None, :, None]) @ r.transpose(-1, -2))
    scores = (ac + bd) / q.shape[-1] ** 0.5
    mask = torch.triu(torch.ones(q.shape[2], k.shape[2], device=q.device), 1) > 0
    return scores.masked_fill(mask, -torch.inf).softmax(-1) @ v
