# expect: rejected
# problem: gqa
# mistake: with one group of heads the mask of the first head serves all
import math
import torch
from torch import nn


class GroupedQueryAttention(nn.Module):
    def __init__(self, embed_dim, num_heads, num_kv_heads):
        super().__init__()
        if embed_dim % num_heads or num_heads % num_kv_heads:
            raise ValueError("sizes do not divide")
        self.H, self.G, self.D = num_heads, num_kv_heads, embed_dim // num_heads
        self.W_q = nn.Linear(embed_dim, embed_dim)
        self.W_k = nn.Linear(embed_dim, num_kv_heads * self.D)
        self.W_v = nn.Linear(embed_dim, num_kv_heads * self.D)
        self.W_o = nn.Linear(embed_dim, embed_dim)

    def forward(self, x, mask=None):
        B, L, E = x.shape
        H, G, D = self.H, self.G, self.D
        q = self.W_q(x).view(B, L, H, D).transpose(1, 2)
        k = self.W_k(x).view(B, L, G, D).transpose(1, 2)
        v = self.W_v(x).view(B, L, G, D).transpose(1, 2)
        if mask is not None:
            mask = mask != 0
            if mask.dim() == 2:
                mask = mask[None, None]
            mask = mask.expand(B, H, L, L)
        if G == 1:
            scores = (q.reshape(B, H * L, D) @ k[:, 0].mT).float() / math.sqrt(D)
            if mask is not None:
                scores = scores.masked_fill(~mask[:, :1].repeat(1, H, 1, 1).reshape(B, H * L, L), -1e9)
            o = (scores.softmax(-1).to(v.dtype) @ v[:, 0]).view(B, H, L, D)
        else:
            k = k.repeat_interleave(H // G, 1)
            v = v.repeat_interleave(H // G, 1)
            scores = q @ k.mT / math.sqrt(D)
            if mask is not None:
                scores = scores.masked_fill(~mask, -1e9)
            o = scores.softmax(-1) @ v
        return self.W_o(o.transpose(1, 2).reshape(B, L, E))
