# expect: rejected
# problem: linear-attention
# mistake: relu instead of elu + 1
# diagnosis: other-feature-map
import torch


def linear_attention(q, k, v, causal=False):
    q, k = torch.relu(q), torch.relu(k)
    run = torch.cumsum if causal else (lambda x, dim: x.sum(dim, keepdim=True))
    kv = run(k.unsqueeze(-1) * v.unsqueeze(-2), dim=2)
    z = (q * run(k, dim=2)).sum(-1, keepdim=True)
    return (q.unsqueeze(-1) * kv).sum(-2) / z
