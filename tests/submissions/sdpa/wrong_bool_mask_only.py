# expect: rejected
# problem: sdpa
# mistake: tilde on an integer mask is bitwise
# diagnosis: bool-mask-only
import math
import torch


def scaled_dot_product_attention(q, k, v, mask=None):
    s = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))
    if mask is not None:
        s = s.masked_fill(~mask, float("-inf"))
    w = torch.softmax(s, -1)
    return w @ v, w
