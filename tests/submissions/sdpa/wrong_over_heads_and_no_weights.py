# expect: rejected
# problem: sdpa
# mistake: the softmax is over the heads, and the weights are not returned
# diagnosis: output-only, softmax-over-heads
import math

import torch


def scaled_dot_product_attention(q, k, v, mask=None):
    s = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))
    if mask is not None:
        s = s.masked_fill(mask == 0, float("-inf"))
    return torch.softmax(s, dim=1) @ v
