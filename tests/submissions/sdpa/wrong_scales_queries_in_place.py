# expect: rejected
# problem: sdpa
# mistake: changes the caller's q
# diagnosis: queries-scaled-in-place
import torch


def scaled_dot_product_attention(q, k, v, mask=None):
    with torch.no_grad():
        q /= q.shape[-1] ** 0.5
    s = q @ k.transpose(-2, -1)
    if mask is not None:
        s = s.masked_fill(mask == 0, -1e9)
    w = torch.softmax(s, -1)
    return w @ v, w
