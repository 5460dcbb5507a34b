# expect: accepted
# problem: mhsa
import torch
from torch import nn


class MHSA(nn.Module):
    """Weights as (H, E, D) and (H, D, E) tensors, as mechanistic work likes to have them."""

    def __init__(self, d_model, n_heads):
        super().__init__()
        if d_model % n_heads:
            raise ValueError("d_model % n_heads != 0")
        d_head = d_model // n_heads
        self.W_Q = nn.Parameter(torch.randn(n_heads, d_model, d_head) * 0.02)
        self.W_K = nn.Parameter(torch.randn(n_heads, d_model, d_head) * 0.02)
        self.W_V = nn.Parameter(torch.randn(n_heads, d_model, d_head) * 0.02)
        self.W_O = nn.Parameter(torch.randn(n_heads, d_head, d_model) * 0.02)
        self.b_Q = nn.Parameter(torch.zeros(n_heads, d_head))
        self.b_K = nn.Parameter(torch.zeros(n_heads, d_head))
        self.b_V = nn.Parameter(torch.zeros(n_heads, d_head))
        self.b_O = nn.Parameter(torch.zeros(d_model))
        self.d_head = d_head

    def forward(self, x, mask=None):
        q = torch.einsum("bpm,hmd->bphd", x, self.W_Q) + self.b_Q
        k = torch.einsum("bpm,hmd->bphd", x, self.W_K) + self.b_K
        v = torch.einsum("bpm,hmd->bphd", x, self.W_V) + self.b_V
        scores = torch.einsum("bqhd,bkhd->bhqk", q, k) / self.d_head**0.5
        if mask is not None:
            scores = torch.where(mask != 0, scores, torch.tensor(-torch.inf, dtype=scores.dtype))
        pattern = torch.exp(scores - torch.logsumexp(scores, dim=-1, keepdim=True))
        z = torch.einsum("bhqk,bkhd->bqhd", pattern, v)
        return torch.einsum("bqhd,hdm->bqm", z, self.W_O) + self.b_O, pattern
