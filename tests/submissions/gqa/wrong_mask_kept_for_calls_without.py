# expect: rejected
# problem: gqa
# mistake: a call without a mask takes the one of the call before, if the sizes are those
import math

from torch import nn
from torch.nn import functional as F


class GroupedQueryAttention(nn.Module):
    def __init__(self, embed_dim, num_heads, num_kv_heads):
        super().__init__()
        if embed_dim % num_heads or num_heads % num_kv_heads:
            raise ValueError("heads must divide the width, and groups the heads")
        self.h, self.g, self.d = num_heads, num_kv_heads, embed_dim // num_heads
        self.q_proj = nn.Linear(embed_dim, embed_dim)
        self.k_proj = nn.Linear(embed_dim, self.g * self.d)
        self.v_proj = nn.Linear(embed_dim, self.g * self.d)
        self.out_proj = nn.Linear(embed_dim, embed_dim)
        self.kept = (None, None)

    def forward(self, x, mask=None):
        b, n, _ = x.shape
        if mask is not None or self.kept[0] != (b, n):
            self.kept = (b, n), mask
        mask = self.kept[1]
        q = self.q_proj(x).view(b, n, self.g, self.h // self.g, self.d).permute(0, 2, 3, 1, 4)
        k = self.k_proj(x).view(b, n, self.g, 1, self.d).permute(0, 2, 3, 1, 4)
        v = self.v_proj(x).view(b, n, self.g, 1, self.d).permute(0, 2, 3, 1, 4)
        scores = (q @ k.mT / math.sqrt(self.d)).flatten(1, 2)
        if mask is not None:
            scores = scores.masked_fill(mask == 0, float("-inf"))
        weights = F.softmax(scores, -1).unflatten(1, (self.g, -1))
        heads = (weights @ v).flatten(1, 2)
        return self.out_proj(heads.transpose(1, 2).flatten(2))
