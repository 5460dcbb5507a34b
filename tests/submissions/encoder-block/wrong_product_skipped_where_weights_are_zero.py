# expect: rejected
# problem: encoder-block
# mistake: the map of the output is skipped where it is all zero, and so gets no gradient
import math

import torch
from torch import nn


class EncoderBlock(nn.Module):
    def __init__(self, embed_dim, num_heads, ffn_dim):
        super().__init__()
        if embed_dim % num_heads:
            raise ValueError("embed_dim must be divisible by num_heads")
        self.num_heads, self.head_dim = num_heads, embed_dim // num_heads
        self.q_proj = nn.Linear(embed_dim, embed_dim)
        self.k_proj = nn.Linear(embed_dim, embed_dim)
        self.v_proj = nn.Linear(embed_dim, embed_dim)
        self.out_proj = nn.Linear(embed_dim, embed_dim)
        self.norm1 = nn.LayerNorm(embed_dim)
        self.linear1 = nn.Linear(embed_dim, ffn_dim)
        self.linear2 = nn.Linear(ffn_dim, embed_dim)
        self.norm2 = nn.LayerNorm(embed_dim)

    def _split(self, x):
        return x.view(x.size(0), x.size(1), self.num_heads, self.head_dim).transpose(1, 2)

    def _attention(self, x, mask):
        if not bool(self.out_proj.weight.any()) and x.size(-1) == self.out_proj.in_features:
            return self.out_proj.bias.expand_as(x)
        q, k, v = (self._split(m(x)) for m in (self.q_proj, self.k_proj, self.v_proj))
        scores = q @ k.transpose(-2, -1) / math.sqrt(self.head_dim)
        if mask is not None:
            scores = scores.masked_fill(mask == 0, torch.finfo(scores.dtype).min)
        weights = torch.softmax(scores, dim=-1)
        return self.out_proj((weights @ v).transpose(1, 2).reshape(x.shape))

    def forward(self, x, mask=None):
        y = self.norm1(x + self._attention(x, mask))
        return self.norm2(y + self.linear2(torch.relu(self.linear1(y))))
