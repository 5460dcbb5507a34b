# expect: rejected
# problem: sdpa
# mistake: without gradients the caller's q is scaled in place
import torch


def scaled_dot_product_attention(q, k, v, mask=None):
    if q.shape[-1] != k.shape[-1] or k.shape[-2] != v.shape[-2]:
        raise ValueError("q and k must have one width, k and v one length")
    scale = q.shape[-1] ** -0.5
    q = q * scale if torch.is_grad_enabled() else q.mul_(scale)
    scores = q @ k.transpose(-2, -1)
    if mask is not None:
        scores = scores.masked_fill(mask == 0, float("-inf"))
    weights = scores.softmax(-1)
    return weights @ v, weights
