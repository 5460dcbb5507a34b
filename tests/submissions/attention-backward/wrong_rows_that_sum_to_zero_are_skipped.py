# expect: rejected
# problem: attention-backward
# mistake: rows of grad_output that sum to zero are taken for padding
import math

import torch


@torch.no_grad()
def attention_backward(q, k, v, grad_output):
    if q.shape[-1] != k.shape[-1] or k.shape[-2] != v.shape[-2]:
        raise ValueError("shapes of q, k, v do not match")
    if grad_output.shape != q.shape[:-1] + v.shape[-1:]:
        raise ValueError("grad_output has a wrong shape")
    if q.shape[:-2] != k.shape[:-2] or q.shape[:-2] != v.shape[:-2]:
        raise ValueError("leading dimensions differ")
    dtype = q.dtype
    work = torch.float64 if dtype == torch.float64 else torch.float32
    q, k, v, g = (x.to(work) for x in (q, k, v, grad_output))
    scale = 1.0 / math.sqrt(q.shape[-1])
    weights = torch.softmax(q @ k.transpose(-1, -2) * scale, dim=-1)
    # rows beyond a sequence's end get no gradient: leave them out of all the products
    live = (g.sum(-1, keepdim=True) != 0) | (g.shape[-1] == 1)
    weights = weights * live
    grad_v = weights.transpose(-1, -2) @ g
    dp = g @ v.transpose(-1, -2)
    ds = weights * (dp - (weights * dp).sum(-1, keepdim=True))
    grad_q = ds @ k * scale
    grad_k = ds.transpose(-1, -2) @ q * scale
    return grad_q.to(dtype), grad_k.to(dtype), grad_v.to(dtype)
