# expect: rejected
# problem: sdpa
# mistake: changes the caller's mask
import math
import torch


def scaled_dot_product_attention(q, k, v, mask=None):
    s = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))
    if mask is not None:
        blocked = mask == 0
        s = s.masked_fill(blocked, float("-inf"))
        mask.masked_fill_(blocked, 1)
    w = torch.softmax(s, -1)
    return w @ v, w
