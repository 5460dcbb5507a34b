# expect: rejected
# problem: kv-cache-step
# mistake: without a graph new keys are written behind a cache that is the beginning of a longer one
import math

import torch
from torch import nn


def append(old, new):
    b, h, t, d = old.shape
    total = t + new.shape[2]
    stride = old.stride()
    end = old.storage_offset() + (b - 1) * stride[0] + (h - 1) * stride[1] + total * stride[2]
    has_room = stride[2:] == (d, 1) and stride[1] >= total * d and stride[0] >= h * stride[1]
    if torch.is_grad_enabled() or not has_room or end > old.untyped_storage().size() // old.itemsize:
        return torch.cat((old, new), 2)
    longer = old.as_strided((b, h, total, d), stride)
    longer[:, :, t:] = new
    return longer


class CachedAttention(nn.Module):
    def __init__(self, embed_dim, num_heads):
        super().__init__()
        if embed_dim % num_heads:
            raise ValueError("heads do not divide the width")
        self.h = num_heads
        self.q_proj = nn.Linear(embed_dim, embed_dim)
        self.k_proj = nn.Linear(embed_dim, embed_dim)
        self.v_proj = nn.Linear(embed_dim, embed_dim)
        self.out_proj = nn.Linear(embed_dim, embed_dim)

    def forward(self, x, cache=None):
        q, k, v = (
            p(x).unflatten(-1, (self.h, -1)).transpose(1, 2)
            for p in (self.q_proj, self.k_proj, self.v_proj)
        )
        if cache is not None:
            k, v = append(cache[0], k), append(cache[1], v)
        s = q @ k.mT / math.sqrt(q.size(-1))
        n, t = s.shape[-2:]
        s = s.masked_fill(torch.ones(n, t).triu(t - n + 1).bool(), -math.inf)
        return self.out_proj((s.softmax(-1) @ v).transpose(1, 2).flatten(2)), (k, v)
