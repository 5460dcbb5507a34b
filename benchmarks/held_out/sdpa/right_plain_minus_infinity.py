# problem: sdpa
# right: the shortest usual form, -inf as fill, no care for fully blocked queries (their own row is nan)
import math, torch
import torch.nn.functional as F

def scaled_dot_product_attention(q, k, v, mask=None):
    s = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))
    if mask is not None:
        s = s.masked_fill(mask == 0, float("-inf"))
    w = F.softmax(s, dim=-1)
    return w @ v, w
