# problem: sdpa
# wrong: a blocked key gets weight 0 also with scores of 200 000; here the fill is -1e4, above allowed scores that lie lower
# needs: mask
import torch


def scaled_dot_product_attention(q, k, v, mask=None):
    scores = (q @ k.transpose(-2, -1)) * q.shape[-1] ** -0.5
    if mask is not None:
        scores = scores.masked_fill(mask == 0, -1e4)
    weights = scores.softmax(dim=-1)
    return weights @ v, weights
