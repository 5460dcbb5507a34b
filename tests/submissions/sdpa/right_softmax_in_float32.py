# expect: accepted
# problem: sdpa
import math
import torch


def scaled_dot_product_attention(q, k, v, mask=None):
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))
    if mask is not None:
        scores = scores.masked_fill(torch.logical_not(mask), float("-inf"))
    # softmax in fp32 for half precision inputs, like the big code bases do
    w = torch.softmax(scores, dim=-1, dtype=torch.float32).to(q.dtype)
    return w @ v, w
