# problem: sdpa
# wrong: the scale is the root of D, the width; here it is the root of S, the number of keys (k.size(-2))
import math

import torch


def scaled_dot_product_attention(q, k, v, mask=None):
    d_k = k.size(-2)
    scores = torch.matmul(q, k.transpose(-2, -1)) / math.sqrt(d_k)
    if mask is not None:
        scores = scores.masked_fill(mask == 0, -1e9)
    attn = torch.softmax(scores, -1)
    return attn @ v, attn
