# problem: sdpa
# wrong: the scale is the root of the width of q and k; here of the width of v, so wrong as soon as Dv differs from D
import math
import torch

def scaled_dot_product_attention(q, k, v, mask=None):
    d_k = v.size(-1)
    if k.size(-2) != v.size(-2):
        raise ValueError("k and v lengths")
    scores = torch.matmul(q, k.transpose(-2, -1)) / math.sqrt(d_k)
    if mask is not None:
        scores = scores.masked_fill(mask == 0, -1e9)
    w = torch.softmax(scores, dim=-1)
    return torch.matmul(w, v), w
