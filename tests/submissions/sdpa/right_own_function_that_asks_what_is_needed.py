# expect: accepted
# problem: sdpa
import math

import torch


class Attention(torch.autograd.Function):
    @staticmethod
    def forward(ctx, q, k, v, blocked):
        scores = q @ k.mT / math.sqrt(q.shape[-1])
        p = scores.masked_fill(blocked, float("-inf")).softmax(-1)
        ctx.save_for_backward(q, k, v, p)
        return p @ v, p

    @staticmethod
    def backward(ctx, grad_out, grad_p):
        q, k, v, p = ctx.saved_tensors
        wanted = ctx.needs_input_grad
        dp = grad_out @ v.mT + grad_p
        ds = p * (dp - (dp * p).sum(-1, keepdim=True)) / math.sqrt(q.shape[-1])
        dq = ds @ k if wanted[0] else None
        dk = ds.mT @ q if wanted[1] else None
        dv = p.mT @ grad_out if wanted[2] else None
        return dq, dk, dv, None


def scaled_dot_product_attention(q, k, v, mask=None):
    if q.shape[-1] != k.shape[-1] or k.shape[-2] != v.shape[-2]:
        raise ValueError("q and k must have one width, k and v one length")
    shape = (*torch.broadcast_shapes(q.shape[:-2], k.shape[:-2]), q.shape[-2], k.shape[-2])
    blocked = torch.zeros((), dtype=torch.bool) if mask is None else mask == 0
    return Attention.apply(q, k, v, blocked.expand(shape))
