# expect: rejected
# problem: linear-attention
# mistake: softmax over features and over positions
# diagnosis: softmax-features
import torch


def efficient_attention(q, k, v, causal=False):
    q = q.softmax(dim=-1)
    if causal:
        k = k.exp()
        ctx = torch.einsum("bhnd,bhne->bhnde", k, v).cumsum(2)
        return torch.einsum("bhnd,bhnde->bhne", q, ctx / k.cumsum(2).unsqueeze(-1))
    k = k.softmax(dim=-2)
    context = torch.einsum("bhnd,bhne->bhde", k, v)
    return torch.einsum("bhnd,bhde->bhne", q, context)
