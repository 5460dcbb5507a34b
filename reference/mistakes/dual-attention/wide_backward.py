import math

import torch
from torch.nn import functional


class Placed(torch.autograd.Function):
    @staticmethod
    def forward(ctx, queries, r):
        ctx.save_for_backward(queries, r)
        products = functional.pad(queries @ r.transpose(-2, -1), (1, 0))
        length, total = queries.shape[-2], r.shape[-2]
        return products.flatten(2)[..., length:].unflatten(2, (length, total))

    @staticmethod
    def backward(ctx, upstream):
        queries, r = ctx.saved_tensors
        length, total = upstream.shape[-2:]
        i = torch.arange(length, device=r.device).unsqueeze(1)
        rows = (length - 1 - i + torch.arange(total, device=r.device)).clamp(max=total - 1)
        of_queries = torch.einsum("bhls,hlsd->bhld", upstream, r[:, rows])
        of_pairs = torch.einsum("bhls,bhld->hlsd", upstream, queries)
        return of_queries, torch.zeros_like(r).index_add(1, rows.flatten(), of_pairs.flatten(1, 2))


def dual_attention(q, k, v, r, content_bias, position_bias):
    if k.shape[-1] != q.shape[-1] or r.shape != k.shape[1:] or v.shape != k.shape:
        raise ValueError("sizes that do not belong together")
    if k.shape[-2] < q.shape[-2]:
        raise ValueError("fewer keys than queries")
    content = (q + content_bias.unsqueeze(1)) @ k.transpose(-2, -1)
    position = Placed.apply(q + position_bias.unsqueeze(1), r)
    scores = (content + position) / math.sqrt(q.shape[-1])
    future = torch.ones_like(scores, dtype=torch.bool).triu(k.shape[-2] - q.shape[-2] + 1)
    return torch.softmax(scores.masked_fill(future, -math.inf), dim=-1) @ v
