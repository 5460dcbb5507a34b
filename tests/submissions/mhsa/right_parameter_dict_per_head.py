# expect: accepted
# problem: mhsa
import torch
from torch import nn


class MultiHeadSelfAttention(nn.Module):
    def __init__(self, d_model, heads):
        super().__init__()
        assert d_model % heads == 0
        self.heads, size = heads, d_model // heads
        # a ParameterDict sorts q_10 before q_2 where it is given a plain dict
        self.W = nn.ParameterDict(
            {f"{name}_{i}": torch.randn(d_model, size) for i in range(heads) for name in "qkv"}
        )
        self.W["o"] = nn.Parameter(torch.randn(d_model, d_model))

    def forward(self, x, mask=None):
        heads = []
        for i in range(self.heads):
            q, k, v = (x @ self.W[f"{name}_{i}"] for name in "qkv")
            scores = q @ k.mT * q.shape[-1] ** -0.5  # (B, L, L)
            if mask is not None:
                allowed = mask.expand(x.shape[0], self.heads, *scores.shape[1:])[:, i]
                scores = scores.masked_fill(allowed == 0, -torch.inf)
            heads.append(scores.softmax(-1) @ v)
        return torch.cat(heads, -1) @ self.W["o"]
