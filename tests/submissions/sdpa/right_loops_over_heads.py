# expect: accepted
# problem: sdpa
import math
import torch


def scaled_dot_product_attention(q, k, v, mask=None):
    if mask is not None:
        mask = mask.expand(*q.shape[:-1], k.shape[-2])
    if q.dim() > 2:
        pairs = [
            scaled_dot_product_attention(q[i], k[i], v[i], None if mask is None else mask[i])
            for i in range(q.shape[0])
        ]
        return torch.stack([p[0] for p in pairs]), torch.stack([p[1] for p in pairs])
    s = q @ k.T / math.sqrt(q.size(-1))
    if mask is not None:
        s = s.masked_fill(mask == 0, float("-inf"))
    w = torch.softmax(s, -1)
    return w @ v, w
