# expect: accepted
# problem: masked-mha
import torch
import torch.nn as nn


class MultiHeadAttention(nn.Module):
    def __init__(self, embed_dim, num_heads):
        super().__init__()
        assert embed_dim % num_heads == 0
        self.num_heads = num_heads
        self.W = nn.Parameter(torch.empty(3, embed_dim, embed_dim))
        nn.init.normal_(self.W, std=0.02)
        self.out = nn.Linear(embed_dim, embed_dim, bias=False)

    def forward(self, q, k, v, mask=None):
        q, k, v = (
            (x @ w.T).unflatten(-1, (self.num_heads, -1)).transpose(1, 2)
            for x, w in zip((q, k, v), self.W)
        )
        att = q @ k.mT / q.shape[-1] ** 0.5
        if mask is not None:
            att = att.masked_fill(mask == 0, float("-inf"))
        att = att.softmax(-1)
        return self.out((att @ v).transpose(1, 2).flatten(2)), att
