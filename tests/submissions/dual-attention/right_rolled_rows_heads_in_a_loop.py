# expect: accepted
# problem: dual-attention
import numpy as np
import torch


def one_head(q, k, v, r, u, w):
    """q (B, L, D), k and v (B, S, D), r (S, D), u and w (D,)."""
    n, total = q.size(1), k.size(1)
    position = torch.matmul(q + w, r.t())
    position = torch.stack(
        [torch.roll(position[:, i], i + 1 - n, dims=-1) for i in range(n)], dim=1
    )
    seen = torch.from_numpy(np.tri(n, total, total - n) > 0).to(q.device)
    score = (torch.matmul(q + u, k.transpose(1, 2)) + position) / np.sqrt(q.size(-1)).item()
    return torch.softmax(score.masked_fill(~seen, -1e9), dim=-1) @ v


def xl_attention(q, k, v, r, content_bias, position_bias):
    if {q.size(-1), k.size(-1), r.size(-1)} != {q.size(-1)}:
        raise ValueError("widths")
    if {v.size(2), r.size(1)} != {k.size(2)}:
        raise ValueError("lengths")
    heads = zip(*(x.unbind(1) for x in (q, k, v)), r, content_bias, position_bias)
    return torch.stack([one_head(*head) for head in heads], dim=1)
