# expect: rejected
# problem: dual-attention
# mistake: weights times values are summed by hand: (B, H, L, S, D)
# diagnosis: tensor-too-large
import math

import torch


def dual_attention(q, k, v, r, u, w):
    L, S, D = q.shape[2], k.shape[2], q.shape[3]
    if k.shape[3] != D or r.shape[1:] != (S, D) or v.shape[2] != S:
        raise ValueError("sizes do not fit")
    rows = L - 1 - torch.arange(L, device=q.device)[:, None] + torch.arange(S, device=q.device)
    products = (q + w[:, None]) @ r.mT
    position = products.gather(-1, rows.clamp(max=S - 1).expand(products.shape))
    scores = ((q + u[:, None]) @ k.mT + position) / math.sqrt(D)
    weights = scores.masked_fill(rows >= S, -math.inf).softmax(-1)
    return (weights[..., None] * v[:, :, None]).sum(-2)
