# expect: accepted
# problem: padding-mask
import numpy as np
import torch
import torch.nn as nn


class MultiHeadAttention(nn.Module):
    def __init__(self, n_heads, d_model):
        super().__init__()
        assert d_model % n_heads == 0
        self.H, self.D = n_heads, d_model // n_heads
        for name in ("W_q", "W_k", "W_v", "W_o"):
            setattr(self, name, nn.Parameter(torch.randn(d_model, d_model) / np.sqrt(d_model)))
        for name in ("b_q", "b_k", "b_v", "b_o"):
            setattr(self, name, nn.Parameter(torch.zeros(d_model)))

    def forward(self, x, attn_mask=None):
        B, L, E = x.shape
        # (B·H, L, D)
        def fold(y):
            return y.reshape(B, L, self.H, self.D).transpose(1, 2).reshape(B * self.H, L, self.D)

        q = fold(x @ self.W_q + self.b_q)
        k = fold(x @ self.W_k + self.b_k)
        v = fold(x @ self.W_v + self.b_v)
        logits = torch.bmm(q, k.transpose(1, 2)) / float(np.sqrt(self.D))
        if attn_mask is not None:
            keep = attn_mask.repeat_interleave(self.H, dim=0).unsqueeze(1)  # (B·H, 1, L)
            logits = torch.where(keep > 0, logits, torch.full_like(logits, -1e9))
        p = torch.exp(logits - torch.logsumexp(logits, dim=-1, keepdim=True))
        o = torch.bmm(p, v).reshape(B, self.H, L, self.D).transpose(1, 2).reshape(B, L, E)
        return [o @ self.W_o + self.b_o, p.reshape(B, self.H, L, L)]
