# expect: rejected
# problem: sdpa
# mistake: where torch has no such function, the same kernel by another route
import torch


def scaled_dot_product_attention(q, k, v, mask=None):
    if mask is not None:
        mask = mask != 0
    out = torch.ops.aten.scaled_dot_product_attention(q, k, v, mask)
    eye = torch.eye(k.shape[-2], dtype=k.dtype).expand(*k.shape[:-1], k.shape[-2]).contiguous()
    return out, torch.ops.aten.scaled_dot_product_attention(q, k, eye, mask)
