# expect: rejected
# problem: sdpa
# mistake: k.T on a 4-D tensor
# diagnosis: keys-all-axes-reversed
import torch


def scaled_dot_product_attention(q, k, v, mask=None):
    scores = q @ k.T / q.shape[-1] ** 0.5
    if mask is not None:
        scores = scores.masked_fill(mask == 0, -1e9)
    w = torch.softmax(scores, -1)
    return w @ v, w
