# problem: sdpa
# wrong: a fully blocked query must not disturb the other queries; here one nan row makes all weights of the call uniform
# needs: mask
import torch


def scaled_dot_product_attention(q, k, v, mask=None):
    scores = torch.matmul(q, k.transpose(-2, -1)) / q.size(-1) ** 0.5
    if mask is not None:
        scores = scores.masked_fill(mask == 0, float("-inf"))
    weights = torch.softmax(scores, dim=-1)
    if torch.isnan(weights).any():
        # everything masked: fall back to plain averaging
        weights = torch.full_like(weights, 1.0 / weights.size(-1))
    return torch.matmul(weights, v), weights
