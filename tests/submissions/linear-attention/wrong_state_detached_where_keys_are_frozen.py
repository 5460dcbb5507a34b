# expect: rejected
# problem: linear-attention
# mistake: the state that a chunk hands on is detached if the keys need no gradient, though v does
import torch
import torch.nn.functional as F


def linear_attention(q, k, v, causal=False):
    fixed = not k.requires_grad
    q, k = F.elu(q) + 1, F.elu(k) + 1
    if not causal:
        z = q @ k.sum(2, keepdim=True).mT
        return q @ (k.mT @ v) / z
    parts, s = [], 0
    for a, b, c in zip(q.split(64, 2), k.split(64, 2), v.split(64, 2), strict=True):
        parts.append((a @ b.mT).tril() @ c + (a @ s if torch.is_tensor(s) else 0))
        s = s + b.mT @ c
        if fixed:
            s = s.detach()
    return torch.cat(parts, 2) / (q * k.cumsum(2)).sum(-1, keepdim=True)
