# expect: rejected
# problem: sdpa
# mistake: default mask is L by L, whatever S is
# diagnosis: square-only
import math
import torch


def scaled_dot_product_attention(q, k, v, mask=None):
    length = q.size(-2)
    s = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))
    if mask is None:
        mask = torch.ones(length, length, device=q.device)
    s = s.masked_fill(mask == 0, -1e9)
    w = torch.softmax(s, -1)
    return w @ v, w
