# expect: rejected
# problem: sdpa
# mistake: the backward pass overwrites the weights that it saved, so that a second one through the same graph is wrong
import math

import torch


class _Attention(torch.autograd.Function):
    @staticmethod
    def forward(ctx, q, k, v, mask):
        scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
        if mask is not None:
            scores = scores.masked_fill(mask == 0, -1e9)
        weights = scores.softmax(-1)
        ctx.save_for_backward(q, k, v)
        ctx.weights = weights.clone()
        return weights @ v, weights

    @staticmethod
    def backward(ctx, grad_output, grad_weights):
        q, k, v = ctx.saved_tensors
        weights = ctx.weights
        grad_v = weights.transpose(-2, -1) @ grad_output
        grad_weights = grad_weights + grad_output @ v.transpose(-2, -1)
        inner = (weights * grad_weights).sum(-1, keepdim=True)
        # in place: (L, S) is the largest tensor of all
        grad_scores = weights.mul_(grad_weights - inner).div_(math.sqrt(q.shape[-1]))
        return grad_scores @ k, grad_scores.transpose(-2, -1) @ q, grad_v, None


def scaled_dot_product_attention(q, k, v, mask=None):
    if q.shape[-1] != k.shape[-1] or k.shape[-2] != v.shape[-2]:
        raise ValueError("sizes do not fit")
    if not q.shape[:-2] == k.shape[:-2] == v.shape[:-2]:
        raise ValueError("leading axes do not fit")
    return _Attention.apply(q, k, v, mask)
