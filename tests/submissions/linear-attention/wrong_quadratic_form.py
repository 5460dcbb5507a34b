# expect: rejected
# problem: linear-attention
# mistake: right values from L by L weights
# diagnosis: quadratic
import torch
import torch.nn.functional as F


def linear_attention(q, k, v, causal=False):
    q, k = F.elu(q) + 1, F.elu(k) + 1
    attn = torch.einsum("bhid,bhjd->bhij", q, k)
    if causal:
        mask = torch.ones(attn.shape[-2:], device=q.device).triu(1).bool()
        attn = attn.masked_fill(mask, 0)
    return torch.einsum("bhij,bhjd->bhid", attn / attn.sum(-1, keepdim=True), v)
