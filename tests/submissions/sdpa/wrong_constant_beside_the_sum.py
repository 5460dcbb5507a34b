# expect: rejected
# problem: sdpa
# mistake: a number is added to the denominator of the softmax
# diagnosis: constant-in-denominator
import torch
def scaled_dot_product_attention(q, k, v, mask=None):
    if q.shape[-1] != k.shape[-1] or k.shape[-2] != v.shape[-2]:
        raise ValueError
    s = q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5
    if mask is not None:
        s = s.masked_fill(mask == 0, float("-inf"))
    e = torch.exp(s - s.amax(-1, keepdim=True))
    w = e / (e.sum(-1, keepdim=True) + 3e-3)
    return w @ v, w
