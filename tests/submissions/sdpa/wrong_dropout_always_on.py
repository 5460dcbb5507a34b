# expect: rejected
# problem: sdpa
# mistake: functional dropout without training flag
import math
import torch
import torch.nn.functional as F


def scaled_dot_product_attention(q, k, v, mask=None, dropout=0.1):
    s = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))
    if mask is not None:
        s = s.masked_fill(mask == 0, -1e9)
    w = F.dropout(F.softmax(s, dim=-1), dropout)
    return w @ v, w
