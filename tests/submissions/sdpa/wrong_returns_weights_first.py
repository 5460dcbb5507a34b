# expect: rejected
# problem: sdpa
# mistake: (weights, output) in the wrong order
# diagnosis: weights-first
import math
import torch


def scaled_dot_product_attention(q, k, v, mask=None):
    s = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))
    if mask is not None:
        s = s.masked_fill(mask == 0, -1e9)
    w = torch.softmax(s, -1)
    return w, w @ v
