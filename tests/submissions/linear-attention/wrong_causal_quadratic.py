# expect: rejected
# problem: linear-attention
# mistake: only the causal form is quadratic
# diagnosis: causal-quadratic
import torch


def linear_attention(q, k, v, causal=False):
    q, k = torch.nn.functional.elu(q) + 1, torch.nn.functional.elu(k) + 1
    if causal:
        a = torch.tril(q @ k.transpose(-1, -2))
        return (a @ v) / a.sum(-1, keepdim=True)
    return q @ (k.transpose(-1, -2) @ v) / (q @ k.sum(-2).unsqueeze(-1))
