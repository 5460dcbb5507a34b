# expect: rejected
# problem: masked-mha
# mistake: without gradients, items go one by one where all scores would take too much memory, and
#   each takes the mask of the first
import math

import torch
from torch import nn

MEGABYTES = 16


class MultiHeadAttention(nn.Module):
    def __init__(self, embed_dim, num_heads):
        super().__init__()
        if embed_dim % num_heads:
            raise ValueError("heads do not divide the width")
        self.heads = num_heads
        self.q, self.k, self.v, self.out = (nn.Linear(embed_dim, embed_dim) for _ in range(4))

    def forward(self, q, k, v, mask=None):
        if k.size(1) != v.size(1) or not q.size(0) == k.size(0) == v.size(0):
            raise ValueError("sizes do not fit")
        q, k, v = (
            one(x).unflatten(-1, (self.heads, -1)).transpose(1, 2)
            for one, x in ((self.q, q), (self.k, k), (self.v, v))
        )
        size = math.prod(q.shape[:-1]) * k.size(-2) * q.element_size()
        if torch.is_grad_enabled() or size < MEGABYTES * 1024 * 1024:
            heads = self.attend(q, k, v, mask)
        else:
            if mask is not None and mask.dim() == 4:
                mask = mask[:1]
            heads = torch.cat([self.attend(*one, mask) for one in zip(*map(_single, (q, k, v)))])
        return self.out(heads.transpose(1, 2).flatten(2))

    def attend(self, q, k, v, mask):
        scores = q @ k.mT / math.sqrt(q.size(-1))
        if mask is not None:
            scores = scores.masked_fill(mask == 0, -math.inf)
        return scores.softmax(-1) @ v


def _single(x):
    return x.split(1)
