# expect: rejected
# problem: masked-mha
# mistake: keys and values by the second map of the stack, the third stays unused
import torch
import torch.nn as nn


class MultiHeadAttention(nn.Module):
    def __init__(self, embed_dim, num_heads):
        super().__init__()
        assert embed_dim % num_heads == 0
        self.num_heads = num_heads
        self.W = nn.Parameter(torch.randn(4, embed_dim, embed_dim) * 0.02)
        self.b = nn.Parameter(torch.zeros(4, embed_dim))

    def forward(self, q, k, v, mask=None):
        q, k, v = (
            (x @ self.W[i] + self.b[i]).unflatten(-1, (self.num_heads, -1)).transpose(1, 2)
            for x, i in ((q, 0), (k, 1), (v, 1))
        )
        att = q @ k.mT / q.shape[-1] ** 0.5
        if mask is not None:
            att = att.masked_fill(mask == 0, float("-inf"))
        att = att.softmax(-1)
        return (att @ v).transpose(1, 2).flatten(2) @ self.W[3] + self.b[3], att
