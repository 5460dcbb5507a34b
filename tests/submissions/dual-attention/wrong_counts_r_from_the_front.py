# expect: rejected
# problem: dual-attention
# mistake: the first row of r is taken for distance 0
# diagnosis: distances-from-zero
import torch


def dual_attention(q, k, v, r, content_bias, position_bias):
    L, S = q.shape[2], k.shape[2]
    if r.shape[1] != S:
        raise ValueError("r")
    distance = (torch.arange(L)[:, None] + S - L - torch.arange(S)).to(q.device)
    products = (q + position_bias[:, None]) @ r.mT
    picked = products[:, :, torch.arange(L)[:, None], distance.clamp(min=0)]
    scores = ((q + content_bias[:, None]) @ k.mT + picked) / q.shape[3] ** 0.5
    return scores.masked_fill(distance < 0, -torch.inf).softmax(-1) @ v
