import torch
from torch.nn.functional import elu


def attend(queries, keys, v, causal):
    if causal:
        states = torch.einsum("bhld,bhle->bhlde", keys, v).cumsum(dim=2)
        numerator = torch.einsum("bhld,bhlde->bhle", queries, states)
        sums = keys.cumsum(dim=2)
    else:
        state = torch.einsum("bhld,bhle->bhde", keys, v)
        numerator = torch.einsum("bhld,bhde->bhle", queries, state)
        sums = keys.sum(dim=2, keepdim=True)
    return numerator / (queries * sums).sum(dim=-1, keepdim=True)


class Linear(torch.autograd.Function):
    @staticmethod
    def forward(ctx, q, k, v, causal):
        wide = torch.promote_types(q.dtype, torch.float32)
        ctx.save_for_backward(q, k, v)
        ctx.causal = causal
        queries, keys = elu(q.to(wide)) + 1, elu(k.to(wide)) + 1
        return attend(queries, keys, v.to(wide), causal).to(q.dtype)

    @staticmethod
    def backward(ctx, gradient):
        wide = torch.promote_types(gradient.dtype, torch.float32)
        q, k, v = (one.to(wide) for one in ctx.saved_tensors)
        queries, keys = elu(q) + 1, elu(k) + 1

        weights = queries @ keys.mT
        if ctx.causal:
            weights = weights.tril()
        total = weights.sum(-1, keepdim=True)
        output = weights @ v / total
        upstream = gradient.to(wide) / total
        of_weights = upstream @ v.mT - (upstream * output).sum(-1, keepdim=True)
        if ctx.causal:
            of_weights = of_weights.tril()
        slopes = torch.where(q > 0, 1.0, q.exp()), torch.where(k > 0, 1.0, k.exp())
        of_q, of_k = of_weights @ keys * slopes[0], of_weights.mT @ queries * slopes[1]
        return *(one.to(gradient.dtype) for one in (of_q, of_k, weights.mT @ upstream)), None


def linear_attention(q, k, v, causal=False):
    if not q.shape == k.shape == v.shape:
        raise ValueError("q, k and v differ in shape")
    return Linear.apply(q, k, v, causal)
