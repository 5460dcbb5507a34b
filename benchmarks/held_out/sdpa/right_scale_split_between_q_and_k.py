# problem: sdpa
# right: plain version, but the scale is split: D**-0.25 on the queries and D**-0.25 on the keys
import torch


def scaled_dot_product_attention(q, k, v, mask=None):
    if q.size(-1) != k.size(-1) or k.size(-2) != v.size(-2):
        raise ValueError("q/k widths or k/v lengths do not match")
    root = q.size(-1) ** -0.25
    scores = torch.matmul(q * root, (k * root).transpose(-2, -1))
    if mask is not None:
        scores = scores.masked_fill(mask == 0, -1e9)
    weights = torch.softmax(scores, dim=-1)
    return torch.matmul(weights, v), weights
