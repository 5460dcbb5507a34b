# expect: accepted
# problem: masked-mha
import torch
from torch import nn


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, heads):
        super().__init__()
        assert d_model % heads == 0
        self.heads = heads
        self.q_proj = nn.Linear(d_model, d_model)
        self.k_proj = nn.Linear(d_model, d_model)
        self.v_proj = nn.Linear(d_model, d_model)
        self.W_o = torch.randn(d_model, d_model) / d_model**0.5
        self.b_o = torch.zeros(d_model)
        self.scale = torch.sqrt(torch.FloatTensor([d_model // heads]))
        self.causal = torch.ones(64, 64).tril()

    def forward(self, q, k, v, mask=None):
        q, k, v = (
            f(x).unflatten(-1, (self.heads, -1)).transpose(1, 2)
            for f, x in ((self.q_proj, q), (self.k_proj, k), (self.v_proj, v))
        )
        scores = q @ k.mT / self.scale.to(q.dtype)
        if mask is not None:
            scores = scores.masked_fill(mask == 0, -torch.inf)
        weights = scores.softmax(-1)
        return (weights @ v).transpose(1, 2).flatten(2) @ self.W_o + self.b_o, weights
