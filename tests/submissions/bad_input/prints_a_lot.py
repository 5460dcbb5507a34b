# expect: accepted
# problem: sdpa
import math

import torch


def scaled_dot_product_attention(q, k, v, mask=None):
    for i in range(2000):
        print("step", i, "of the debugging that I forgot to remove", flush=i % 100 == 0)
    print(q, k, v, mask)
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))
    if mask is not None:
        scores = scores.masked_fill(mask == 0, -1e9)
    weights = torch.softmax(scores, dim=-1)
    return weights @ v, weights
