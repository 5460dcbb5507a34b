# expect: rejected
# problem: linear-attention
# mistake: numerator only
# diagnosis: not-normalised
import torch
import torch.nn as nn


class LinearAttention(nn.Module):
    def forward(self, q, k, v, causal=False):
        q, k = nn.functional.elu(q) + 1, nn.functional.elu(k) + 1
        if causal:
            s = torch.cumsum(k[..., :, None] * v[..., None, :], 2)
            return (q[..., None] * s).sum(-2)
        return q @ (k.transpose(-2, -1) @ v)
