# expect: rejected
# problem: sdpa
# mistake: nothing is kept for the backward pass unless q requires a gradient
import math

import torch


class Attention(torch.autograd.Function):
    @staticmethod
    def forward(ctx, q, k, v, blocked):
        scores = q @ k.mT / math.sqrt(q.shape[-1])
        p = scores.masked_fill(blocked, float("-inf")).softmax(-1)
        if ctx.needs_input_grad[0]:
            ctx.save_for_backward(q, k, v, p)
        return p @ v, p

    @staticmethod
    def backward(ctx, grad_out, grad_p):
        if not ctx.needs_input_grad[0]:
            return None, None, None, None
        q, k, v, p = ctx.saved_tensors
        dp = grad_out @ v.mT + grad_p
        ds = p * (dp - (dp * p).sum(-1, keepdim=True)) / math.sqrt(q.shape[-1])
        return ds @ k, ds.mT @ q, p.mT @ grad_out, None


def scaled_dot_product_attention(q, k, v, mask=None):
    if q.shape[-1] != k.shape[-1] or k.shape[-2] != v.shape[-2]:
        raise ValueError("q and k must have one width, k and v one length")
    shape = (*torch.broadcast_shapes(q.shape[:-2], k.shape[:-2]), q.shape[-2], k.shape[-2])
    blocked = torch.zeros((), dtype=torch.bool) if mask is None else mask == 0
    return Attention.apply(q, k, v, blocked.expand(shape))
