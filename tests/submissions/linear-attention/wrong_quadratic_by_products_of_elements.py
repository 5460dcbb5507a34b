# expect: rejected
# problem: linear-attention
# mistake: L by L weights without any matrix product
# diagnosis: quadratic
import torch
import torch.nn.functional as F


def linear_attention(q, k, v, causal=False):
    q, k = F.elu(q) + 1, F.elu(k) + 1
    w = 0
    for d in range(q.shape[-1]):
        w = w + q[..., d].unsqueeze(-1) * k[..., d].unsqueeze(-2)
    if causal:
        w = w.tril()
    w = w / w.sum(-1, keepdim=True)
    return torch.stack([(w * v[..., d].unsqueeze(-2)).sum(-1) for d in range(v.shape[-1])], -1)
