# problem: sdpa
# wrong: inputs are not changed in place; here q itself is scaled (q *= ...) whenever it needs no gradient
import torch


def scaled_dot_product_attention(q, k, v, mask=None):
    if q.shape[-1] != k.shape[-1] or k.shape[-2] != v.shape[-2]:
        raise ValueError("shapes do not fit")
    factor = q.shape[-1] ** -0.5
    if q.requires_grad or q.is_inference():
        q = q * factor
    else:
        q *= factor  # saves a copy
    scores = torch.matmul(q, k.transpose(-2, -1))
    if mask is not None:
        scores = scores.masked_fill(mask == 0, -1e9)
    weights = torch.softmax(scores, dim=-1)
    return torch.matmul(weights, v), weights
