# expect: rejected
# problem: linear-attention
# mistake: a denominator below 0.05 becomes 0.05
# diagnosis: large-constant-in-denominator
import torch, torch.nn.functional as F
def linear_attention(q, k, v, causal=False):
    assert q.shape[-1] == k.shape[-1]
    q, k = F.elu(q) + 1, F.elu(k) + 1
    if causal:
        s = torch.cumsum(k.unsqueeze(-1) * v.unsqueeze(-2), 2); z = k.cumsum(2)
        return torch.einsum("bhld,bhlde->bhle", q, s) / ((q * z).sum(-1, keepdim=True)).clamp(min=.05)
    return q @ (k.transpose(-1, -2) @ v) / ((q * k.sum(2, keepdim=True)).sum(-1, keepdim=True)).clamp(min=.05)
