# expect: accepted
# problem: padding-mask
import torch
from torch import nn


class SelfAttention:
    """Takes the padding out, attends within each sequence, and puts the rows back."""

    def __init__(self, width, n_heads):
        if width % n_heads:
            raise ValueError("n_heads must divide width")
        self.n_heads = n_heads
        self.Wq, self.Wk, self.Wv, self.Wo = (nn.Linear(width, width) for _ in range(4))

    def one(self, tokens):  # (n, E)
        n, e = tokens.shape
        h, d = self.n_heads, e // self.n_heads
        q = self.Wq(tokens).view(n, h, d)
        k = self.Wk(tokens).view(n, h, d)
        v = self.Wv(tokens).view(n, h, d)
        heads = []
        for i in range(h):
            s = q[:, i] @ k[:, i].T / d**0.5
            s = s - s.max(dim=1, keepdim=True).values
            w = s.exp()
            heads.append((w / w.sum(1, keepdim=True)) @ v[:, i])
        return self.Wo(torch.cat(heads, dim=1))

    def __call__(self, tokens, mask=None):
        if mask is None:
            mask = torch.ones(tokens.shape[:2], dtype=torch.bool)
        if mask.shape != tokens.shape[:2]:
            raise ValueError("mask does not fit")
        rows = []
        for sequence, kept in zip(tokens, mask.bool()):
            row = torch.zeros_like(sequence)
            if kept.any():
                row[kept] = self.one(sequence[kept])
            rows.append(row)
        return torch.stack(rows)
