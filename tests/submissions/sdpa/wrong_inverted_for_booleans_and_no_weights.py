# expect: rejected
# problem: sdpa
# mistake: a 1 blocks, masks of numbers raise, and the weights are not returned
# diagnosis: bool-mask-only, mask-inverted, output-only
import math

import torch


def scaled_dot_product_attention(q, k, v, mask=None):
    s = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))
    if mask is not None:
        s = s.masked_fill(mask, float("-inf"))
    return torch.softmax(s, dim=-1) @ v
