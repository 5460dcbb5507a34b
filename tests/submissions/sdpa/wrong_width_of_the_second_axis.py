# expect: rejected
# problem: sdpa
# mistake: the width is read from axis 1, which is the number of heads for four axes
# diagnosis: width-from-second-axis
import math

import torch


def scaled_dot_product_attention(q, k, v, mask=None):
    d_k = q.size(1)
    scores = torch.matmul(q, k.transpose(-2, -1)) / math.sqrt(d_k)
    if mask is not None:
        scores = scores.masked_fill(mask == 0, float("-1e9"))
    p_attn = torch.softmax(scores, dim=-1)
    return torch.matmul(p_attn, v), p_attn
