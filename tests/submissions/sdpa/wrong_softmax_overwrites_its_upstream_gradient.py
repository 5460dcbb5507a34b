# expect: rejected
# problem: sdpa
# mistake: the softmax's backward writes into the gradient that it is given
import math
import torch


class RowSoftmax(torch.autograd.Function):
    @staticmethod
    def forward(ctx, scores):
        w = torch.softmax(scores, dim=-1)
        ctx.save_for_backward(w)
        return w

    @staticmethod
    def backward(ctx, grad):
        (w,) = ctx.saved_tensors
        grad = grad.contiguous()
        dot = (grad * w).sum(-1, keepdim=True)
        return grad.sub_(dot).mul_(w)


def scaled_dot_product_attention(q, k, v, mask=None):
    if q.size(-1) != k.size(-1) or k.size(-2) != v.size(-2):
        raise ValueError("sizes do not agree")
    scores = torch.matmul(q, k.transpose(-2, -1)) / math.sqrt(q.size(-1))
    if mask is not None:
        low = -6e4 if scores.dtype == torch.float16 else -1e9
        scores = scores.masked_fill(mask == 0, low)
    weights = RowSoftmax.apply(scores)
    return torch.matmul(weights, v), weights
