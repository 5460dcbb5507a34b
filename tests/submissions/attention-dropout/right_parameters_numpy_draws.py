# expect: accepted
# problem: attention-dropout
import numpy as np
import torch
from torch import nn


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, n_head, dropout):
        super().__init__()
        assert d_model % n_head == 0
        d = d_model // n_head
        self.n_head = n_head
        self.dropout = dropout
        self.rng = np.random.default_rng()
        self.w_qs = nn.Parameter(torch.randn(n_head, d_model, d) * d_model**-0.5)
        self.w_ks = nn.Parameter(torch.randn(n_head, d_model, d) * d_model**-0.5)
        self.w_vs = nn.Parameter(torch.randn(n_head, d_model, d) * d_model**-0.5)
        self.fc = nn.Linear(d_model, d_model, bias=False)

    def forward(self, q, k, v, mask=None):
        q = torch.einsum("ble,hed->bhld", q, self.w_qs)
        k = torch.einsum("bse,hed->bhsd", k, self.w_ks)
        v = torch.einsum("bse,hed->bhsd", v, self.w_vs)
        attn = q @ k.mT / q.size(-1) ** 0.5
        if mask is not None:
            attn = attn + torch.zeros_like(attn).masked_fill(mask == 0, float("-inf"))
        attn = torch.softmax(attn, dim=-1)
        if self.training:
            keep = torch.from_numpy(self.rng.random(attn.shape) >= self.dropout)
            attn = attn.masked_fill(~keep, 0.0) / (1.0 - self.dropout)
        out = (attn @ v).transpose(1, 2).flatten(2)
        return [self.fc(out), attn]
