# expect: accepted
# problem: mqa
import torch
from torch import nn


class MultiQueryAttention(nn.Module):
    """Weights P_q (H, E, D), P_k (E, D), P_v (E, D), P_o (H, D, E), all used by einsum."""

    def __init__(self, d, h):
        super().__init__()
        if d % h:
            raise ValueError("h must divide d")
        k = d // h
        self.P_q = nn.Parameter(torch.randn(h, d, k) / d**0.5)
        self.P_k = nn.Parameter(torch.randn(d, k) / d**0.5)
        self.P_v = nn.Parameter(torch.randn(d, k) / d**0.5)
        self.P_o = nn.Parameter(torch.randn(h, k, d) / d**0.5)
        self.scale = k**-0.5

    def forward(self, X, mask=None):
        Q = torch.einsum("bnd,hdk->bhnk", X, self.P_q)
        K = torch.einsum("bmd,dk->bmk", X, self.P_k)
        V = torch.einsum("bmd,dv->bmv", X, self.P_v)
        logits = torch.einsum("bhnk,bmk->bhnm", Q, K) * self.scale
        if mask is not None:
            logits = logits.masked_fill(mask == 0, float("-inf"))
        weights = torch.softmax(logits, dim=-1)
        O = torch.einsum("bhnm,bmv->bhnv", weights, V)
        return torch.einsum("bhnv,hvd->bnd", O, self.P_o)
