# problem: sdpa
# wrong: the second result is the weights, each row summing to 1; here it is the scores before the softmax
# needs: weights
import torch

def scaled_dot_product_attention(q, k, v, mask=None):
    weights = q @ k.transpose(-2, -1) / (q.shape[-1] ** 0.5)
    if mask is not None:
        weights = weights.masked_fill(mask == 0, -1e9)
    output = torch.softmax(weights, dim=-1) @ v
    return output, weights
