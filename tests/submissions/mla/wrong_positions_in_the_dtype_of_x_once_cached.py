# expect: rejected
# problem: mla
# bfloat16 counts to 256: beyond that a chunk on a warm cache sees some of its own future.
import torch
from torch import nn


class MLA(nn.Module):
    """Queries meet the latents directly; keys and values are never made."""

    def __init__(self, d_model, n_heads, d_c):
        super().__init__()
        assert d_model % n_heads == 0
        self.dh = d_model // n_heads
        self.W_Q = nn.Linear(d_model, d_model, bias=False)
        self.W_DKV = nn.Linear(d_model, d_c, bias=False)
        self.W_UK = nn.Parameter(torch.randn(n_heads, self.dh, d_c) * d_c**-0.5)
        self.W_UV = nn.Parameter(torch.randn(n_heads, d_c, self.dh) * d_c**-0.5)
        self.W_O = nn.Linear(d_model, d_model, bias=False)

    def forward(self, x, cache=None):
        c = self.W_DKV(x)
        if cache is not None:
            c = torch.cat([cache, c], dim=1)
        l, s = x.size(1), c.size(1)
        q = self.W_Q(x).unflatten(-1, (-1, self.dh))
        q = torch.einsum("blhd,hdc->bhlc", q, self.W_UK)
        scores = torch.einsum("bhlc,bsc->bhls", q, c) / self.dh**0.5
        positions = torch.arange(s, device=x.device)
        if cache is not None:
            positions = positions.to(x)
        seen = positions <= positions[s - l :, None]
        p = scores.masked_fill(~seen, float("-inf")).softmax(dim=-1)
        o = torch.einsum("bhls,bsc->bhlc", p, c)
        o = torch.einsum("bhlc,hcd->blhd", o, self.W_UV)
        return self.W_O(o.flatten(2)), c
