# expect: rejected
# problem: masked-mha
# mistake: what is added to a blocked score is overtaken where scores are larger
import torch
from torch import nn


class MultiHeadAttention(nn.Module):
    def __init__(self, embed_dim, num_heads):
        super().__init__()
        if embed_dim % num_heads:
            raise ValueError("the heads do not divide the width")
        self.num_heads, self.head_dim = num_heads, embed_dim // num_heads
        self.W_q, self.W_k, self.W_v, self.W_o = (
            nn.Linear(embed_dim, embed_dim) for _ in range(4)
        )

    def forward(self, q, k, v, mask=None):
        if k.shape[1] != v.shape[1]:
            raise ValueError("one value for each key")
        q, k, v = (
            map_(one).unflatten(-1, (self.num_heads, self.head_dim)).transpose(1, 2)
            for map_, one in ((self.W_q, q), (self.W_k, k), (self.W_v, v))
        )
        scores = q @ k.mT / self.head_dim**0.5
        if mask is not None:
            scores = scores + (mask == 0).to(scores.dtype) * -1e5
        weights = scores.softmax(-1)
        return self.W_o((weights @ v).transpose(1, 2).flatten(2)), weights
