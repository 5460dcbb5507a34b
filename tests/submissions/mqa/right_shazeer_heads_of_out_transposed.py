# expect: accepted
# problem: mqa
import math
import torch
import torch.nn as nn
import torch.nn.functional as F

class MultiQueryAttention(nn.Module):
    def __init__(self, d: int, h: int):
        super().__init__()
        if d % h != 0:
            raise ValueError(f"{d} is not divisible by {h}")
        self.h = h
        k = d // h
        self.P_q = nn.Parameter(torch.randn(h, d, k) / d ** .5)
        self.P_k = nn.Parameter(torch.randn(d, k) / d ** .5)
        self.P_v = nn.Parameter(torch.randn(d, k) / d ** .5)
        self.P_o = nn.Parameter(torch.randn(h, d, k) / d ** .5)
    def forward(self, X, mask=None):
        Q = torch.einsum("bnd,hdk->bhnk", X, self.P_q)
        K = torch.einsum("bmd,dk->bmk", X, self.P_k)
        V = torch.einsum("bmd,dv->bmv", X, self.P_v)
        logits = torch.einsum("bhnk,bmk->bhnm", Q, K) / K.shape[-1] ** .5
        if mask is not None:
            logits = logits.masked_fill(mask == 0, -torch.inf)
        weights = torch.softmax(logits, -1)
        O = torch.einsum("bhnm,bmv->bhnv", weights, V)
        return torch.einsum("bhnv,hdv->bnd", O, self.P_o)
