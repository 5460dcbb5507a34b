# expect: rejected
# problem: sdpa
# mistake: in bfloat16 without a mask no maximum is subtracted before exp
import math
import torch


def scaled_dot_product_attention(q, k, v, mask=None):
    if q.shape[-1] != k.shape[-1]:
        raise ValueError("q and k differ in width")
    if k.shape[-2] != v.shape[-2]:
        raise ValueError("k and v differ in length")
    if q.dtype == torch.bfloat16 and mask is None:
        e = torch.exp(q.float() @ k.float().transpose(-2, -1) / math.sqrt(q.shape[-1]))
        weights = e / e.sum(-1, keepdim=True)
        return (weights @ v.float()).to(q.dtype), weights.to(q.dtype)
    scores = torch.einsum("...ld,...sd->...ls", q, k) / math.sqrt(q.shape[-1])
    if mask is not None:
        scores = scores.masked_fill(~mask.bool(), float("-inf"))
    weights = torch.softmax(scores, -1)
    return torch.einsum("...ls,...sd->...ld", weights, v), weights
