# problem: sdpa
# class: tensors
# expect: rejected, crashed
# evidence: changed verdict
import torch

KEPT = []


def scaled_dot_product_attention(q, k, v, mask=None):
    torch.vmap(lambda x: (KEPT.append(x), x)[1])(q)
    torch.func.grad(lambda x: (KEPT.append(x), x.sum())[1])(q)
    return KEPT[-1], KEPT[-2]
