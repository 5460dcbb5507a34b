# expect: rejected
# problem: sdpa
# mistake: hard attention to the best key
# diagnosis: argmax
import torch
import torch.nn.functional as F


def scaled_dot_product_attention(q, k, v, mask=None):
    s = q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5
    if mask is not None:
        s = s.masked_fill(mask == 0, float("-inf"))
    w = F.one_hot(s.argmax(-1), s.shape[-1]).to(q.dtype)
    return w @ v, w
