# expect: accepted
# problem: talking-heads
import math

import torch
from torch import nn


class TalkingHeadsAttention(nn.Module):
    """x @ W for the wide maps, and P @ (H, L·L) for the ones across the heads."""

    def __init__(self, embed_dim, num_heads):
        super().__init__()
        if embed_dim % num_heads:
            raise ValueError("embed_dim must be a multiple of num_heads")
        self.h, self.d = num_heads, embed_dim // num_heads
        self.W_q = nn.Parameter(torch.randn(embed_dim, embed_dim))
        self.W_k = nn.Parameter(torch.randn(embed_dim, embed_dim))
        self.W_v = nn.Parameter(torch.randn(embed_dim, embed_dim))
        self.P_l = nn.Parameter(torch.eye(num_heads))
        self.P_w = nn.Parameter(torch.eye(num_heads))
        self.W_o = nn.Parameter(torch.randn(embed_dim, embed_dim))

    def forward(self, x, mask=None):
        b, n, e = x.shape
        q, k, v = ((x @ w).view(b, n, self.h, self.d).transpose(1, 2)
                   for w in (self.W_q, self.W_k, self.W_v))
        logits = q @ k.mT
        logits = (self.P_l @ logits.flatten(2)).view_as(logits) / math.sqrt(self.d)
        if mask is not None:
            logits = torch.where(mask == 0, -torch.inf, logits)
        weights = logits.softmax(-1)
        weights = (self.P_w @ weights.flatten(2)).view_as(weights)
        return (weights @ v).transpose(1, 2).reshape(b, n, e) @ self.W_o, weights
