# expect: rejected
# problem: alibi
# mistake: distances beyond 512 all cost the same, though only with causal=False
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
    signed = torch.arange(S - L, S, device=q.device)[:, None] - torch.arange(S, device=q.device)
    distance = signed if causal else signed.abs().clamp(max=512)
    scores = q @ k.mT / math.sqrt(q.shape[3]) - slopes[:, None, None] * distance
    if causal:
        scores = scores.masked_fill(signed < 0, -math.inf)
    return scores.softmax(-1) @ v
