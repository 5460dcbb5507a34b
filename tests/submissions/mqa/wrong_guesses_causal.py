# expect: rejected
# problem: mqa
# mistake: a mask (L, L) that has ones on its diagonal, a zero in its corner and as many ones as a causal one is taken for causal
import math

import torch
from torch import nn


class MultiQueryAttention(nn.Module):
    def __init__(self, embed_dim, num_heads):
        super().__init__()
        if embed_dim % num_heads:
            raise ValueError("num_heads must divide embed_dim")
        self.num_heads = num_heads
        self.head_dim = embed_dim // num_heads
        self.q_proj = nn.Linear(embed_dim, embed_dim)
        self.k_proj = nn.Linear(embed_dim, self.head_dim)
        self.v_proj = nn.Linear(embed_dim, self.head_dim)
        self.out_proj = nn.Linear(embed_dim, embed_dim)

    @staticmethod
    def _is_causal(mask):
        length = mask.shape[0]
        allowed = mask != 0
        return bool(
            allowed.sum() == length * (length + 1) // 2
            and allowed.diagonal().all()
            and (length == 1 or not allowed[0, -1])
        )

    @staticmethod
    def _block_later(scores):
        length = scores.shape[-1]
        later = torch.ones(length, length, dtype=torch.bool, device=scores.device).triu(1)
        return scores.masked_fill(later, -1e9)

    def forward(self, x, mask=None):
        B, L, E = x.shape
        q = self.q_proj(x).reshape(B, L, self.num_heads, self.head_dim).transpose(1, 2)
        k, v = self.k_proj(x)[:, None], self.v_proj(x)[:, None]
        scores = q @ k.transpose(-2, -1) / math.sqrt(self.head_dim)
        if mask is not None:
            if mask.dim() == 2 and self._is_causal(mask):
                scores = self._block_later(scores)
            else:
                scores = scores.masked_fill(mask == 0, -1e9)
        heads = scores.softmax(-1) @ v
        return self.out_proj(heads.transpose(1, 2).reshape(B, L, E))
