# expect: rejected
# problem: sdpa
# mistake: gradients through the returned weights are cut
import math
import torch


def scaled_dot_product_attention(q, k, v, mask=None):
    if (
        q.size(-1) != k.size(-1)
        or k.size(-2) != v.size(-2)
        or q.shape[:-2] != k.shape[:-2]
        or k.shape[:-2] != v.shape[:-2]
    ):
        raise ValueError("shapes do not fit")
    scores = torch.matmul(q, k.transpose(-2, -1)) / math.sqrt(q.size(-1))
    if mask is not None:
        scores = scores.masked_fill(mask == 0, float("-inf"))
    weights = torch.softmax(scores, dim=-1)
    return torch.matmul(weights, v), weights.detach()
