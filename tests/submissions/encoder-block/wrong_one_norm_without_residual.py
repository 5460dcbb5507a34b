# expect: rejected
# problem: encoder-block
# mistake: one norm for both sublayers, and no residual around attention
# diagnosis: no-attention-residual, one-norm-only
import math

import torch
from torch import nn


class EncoderBlock(nn.Module):
    def __init__(self, embed_dim, num_heads, ffn_dim):
        super().__init__()
        if embed_dim % num_heads:
            raise ValueError("heads do not divide the width")
        self.h = num_heads
        self.wq, self.wk, self.wv, self.wo = (nn.Linear(embed_dim, embed_dim) for _ in range(4))
        self.ff1, self.ff2 = nn.Linear(embed_dim, ffn_dim), nn.Linear(ffn_dim, embed_dim)
        self.norm = nn.LayerNorm(embed_dim)

    def forward(self, x, mask=None):
        x = self.norm(self.attend(x, mask))
        return self.norm(x + self.ff2(torch.relu(self.ff1(x))))

    def attend(self, x, mask):
        b, n, e = x.shape
        q, k, v = (w(x).view(b, n, self.h, -1).transpose(1, 2) for w in (self.wq, self.wk, self.wv))
        s = q @ k.transpose(-1, -2) / math.sqrt(q.size(-1))
        if mask is not None:
            s = s.masked_fill(mask == 0, float("-inf"))
        return self.wo((s.softmax(-1) @ v).transpose(1, 2).reshape(b, n, e))
