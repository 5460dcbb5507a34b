# expect: rejected
# problem: sdpa
# mistake: k in the memory of q is taken for q, and so is its gradient
import torch


def _same(a, b):
    return (
        a.data_ptr() == b.data_ptr()
        and a.shape == b.shape
        and a.stride() == b.stride()
        and a.dtype == b.dtype
    )


def scaled_dot_product_attention(q, k, v, mask=None):
    if q.shape[-1] != k.shape[-1]:
        raise ValueError("q and k differ in width")
    if k.shape[-2] != v.shape[-2]:
        raise ValueError("k and v differ in length")
    dtype = q.dtype
    compute = torch.float64 if dtype == torch.float64 else torch.float32
    root = q.shape[-1] ** -0.25
    # self-attention: cast and scale only once
    qs = q.to(compute) * root
    ks = qs if _same(q, k) else k.to(compute) * root
    scores = qs @ ks.transpose(-2, -1)
    if mask is not None:
        scores = scores.masked_fill(mask == 0, -1e9)
    weights = scores.softmax(dim=-1)
    return (weights @ v.to(compute)).to(dtype), weights.to(dtype)
