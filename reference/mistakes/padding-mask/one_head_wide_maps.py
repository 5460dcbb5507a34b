import math

import torch
from torch import nn


class MultiHeadAttention(nn.Module):
    def __init__(self, embed_dim, num_heads):
        super().__init__()
        if num_heads < 1 or embed_dim % num_heads:
            raise ValueError("the heads do not divide the width")
        self.embed_dim = embed_dim
        self.num_heads = num_heads
        self.head_dim = embed_dim // num_heads
        self.q_proj = nn.Linear(embed_dim, self.head_dim)
        self.k_proj = nn.Linear(embed_dim, self.head_dim)
        self.v_proj = nn.Linear(embed_dim, self.head_dim)
        self.out_proj = nn.Linear(self.head_dim, embed_dim)

    def forward(self, hidden_state, attention_mask=None):
        self._check(hidden_state, attention_mask)
        q = (self.q_proj(hidden_state))[:, None]
        k = (self.k_proj(hidden_state))[:, None]
        v = (self.v_proj(hidden_state))[:, None]

        scores = q @ k.transpose(-2, -1) / math.sqrt(self.head_dim)
        if attention_mask is not None:
            padding = (attention_mask == 0)[:, None, None]
            scores = scores.masked_fill(padding, -math.inf)
        weights = torch.softmax(scores, dim=-1)

        heads = weights @ v
        output = self.out_proj(heads.transpose(1, 2).flatten(2))
        return output, weights

    def _check(self, hidden_state, attention_mask):
        if hidden_state.ndim != 3 or hidden_state.shape[-1] != self.embed_dim:
            raise ValueError("hidden_state is not (batch, length, width)")
        if attention_mask is not None and attention_mask.shape != hidden_state.shape[:2]:
            raise ValueError("attention_mask is not (batch, length)")
