# expect: rejected
# problem: sdpa
# mistake: no division by sqrt(D)
# diagnosis: no-scale
import torch


def scaled_dot_product_attention(q, k, v, mask=None):
    scores = torch.matmul(q, k.transpose(-2, -1))
    if mask is not None:
        scores = scores.masked_fill(mask == 0, -1e9)
    w = torch.softmax(scores, dim=-1)
    return torch.matmul(w, v), w
