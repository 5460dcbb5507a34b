# expect: rejected
# problem: mqa
# mistake: k and v maps of full width, and no division by √D
# diagnosis: full-size-maps, no-scale
import torch
from torch import nn


class MultiQueryAttention(nn.Module):
    def __init__(self, embed_dim, num_heads):
        super().__init__()
        if embed_dim % num_heads:
            raise ValueError("heads do not divide the width")
        self.num_heads = num_heads
        self.to_q = nn.Linear(embed_dim, embed_dim)
        self.to_k = nn.Linear(embed_dim, embed_dim)
        self.to_v = nn.Linear(embed_dim, embed_dim)
        self.to_out = nn.Linear(embed_dim, embed_dim)

    def forward(self, x, mask=None):
        batch, length, width = x.shape

        def heads(t):
            return t.view(batch, length, self.num_heads, -1).transpose(1, 2)

        q, k, v = heads(self.to_q(x)), heads(self.to_k(x)), heads(self.to_v(x))
        scores = torch.einsum("bhid,bhjd->bhij", q, k)
        if mask is not None:
            scores = scores.masked_fill(mask == 0, float("-inf"))
        y = torch.einsum("bhij,bhjd->bhid", scores.softmax(-1), v)
        return self.to_out(y.transpose(1, 2).reshape(batch, length, width))
