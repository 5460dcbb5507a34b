# expect: rejected
# problem: sdpa
# mistake: a gradient written by hand for batches of heads alone
import torch


class Weighted(torch.autograd.Function):
    @staticmethod
    def forward(ctx, weights, v):
        ctx.save_for_backward(weights, v)
        return weights @ v

    @staticmethod
    def backward(ctx, grad):
        weights, v = ctx.saved_tensors
        return grad @ v.mT, torch.einsum("bhls,bhld->bhsd", weights, grad)


def scaled_dot_product_attention(q, k, v, mask=None):
    scores = q @ k.mT / q.shape[-1] ** 0.5
    if mask is not None:
        scores = scores.masked_fill(mask == 0, float("-inf"))
    weights = torch.softmax(scores, dim=-1)
    if weights.shape[-1] != v.shape[-2]:
        raise ValueError("one value for each key")
    return Weighted.apply(weights, v), weights
