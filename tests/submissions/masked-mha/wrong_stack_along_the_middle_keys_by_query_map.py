# expect: rejected
# problem: masked-mha
# mistake: the keys are made by the map of the queries
import torch
from torch import nn


class MultiHeadAttention(nn.Module):
    def __init__(self, embed_dim, num_heads):
        super().__init__()
        assert embed_dim % num_heads == 0
        self.num_heads = num_heads
        self.W = nn.Parameter(torch.randn(embed_dim, 3, embed_dim) * 0.02)
        self.b = nn.Parameter(torch.zeros(3, embed_dim))
        self.out = nn.Linear(embed_dim, embed_dim)

    def forward(self, q, k, v, mask=None):
        q, k, v = (
            (x @ self.W[:, (0, 0, 2)[i]] + self.b[i]).unflatten(-1, (self.num_heads, -1)).transpose(1, 2)
            for i, x in enumerate((q, k, v))
        )
        att = q @ k.mT / q.shape[-1] ** 0.5
        if mask is not None:
            att = att.masked_fill(mask == 0, float("-inf"))
        att = att.softmax(-1)
        return self.out((att @ v).transpose(1, 2).flatten(2)), att
