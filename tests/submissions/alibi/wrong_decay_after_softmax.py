# expect: rejected
# problem: alibi
# mistake: the weights decay after the softmax, and are 0/0 where a far key has all of the weight
import math

import torch


def alibi_slopes(num_heads):
    p = 2 ** int(math.log2(num_heads))
    own = [2 ** (-8 * (i + 1) / p) for i in range(p)]
    between = [2 ** (-4 * (i + 1) / p) for i in range(0, 2 * p, 2)]
    return torch.tensor(own + between[: num_heads - p])


def alibi_attention(q, k, v, slopes, causal=True):
    L, S = q.shape[2], k.shape[2]
    if L > S or len(slopes) != q.shape[1]:
        raise ValueError("sizes do not fit")
    wide = torch.promote_types(q.dtype, torch.float32)
    distance = torch.arange(S - L, S, device=q.device)[:, None] - torch.arange(S, device=q.device)
    scores = q.to(wide) @ k.to(wide).mT / math.sqrt(q.shape[3])
    if causal:
        scores = scores.masked_fill(distance < 0, -math.inf)
    weights = scores.softmax(-1) * torch.exp(-slopes.to(wide)[:, None, None] * distance.abs())
    return (weights / weights.sum(-1, keepdim=True) @ v.to(wide)).to(q.dtype)
