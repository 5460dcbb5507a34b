# expect: accepted
# problem: sdpa
import torch


def scaled_dot_product_attention(q, k, v, mask=None):
    try:
        allowed = None if mask is None else mask != 0
        out = torch._C._nn.scaled_dot_product_attention(q, k, v, attn_mask=allowed)
        eye = torch.eye(k.shape[-2], dtype=k.dtype).expand(*k.shape[:-1], k.shape[-2])
        weights = torch.ops.aten.scaled_dot_product_attention(q, k, eye, attn_mask=allowed)
    except (AttributeError, RuntimeError):
        scores = torch.matmul(q, k.transpose(-2, -1)) / k.shape[-1] ** 0.5
        if mask is not None:
            scores = scores.masked_fill(mask == 0, float("-inf"))
        weights = scores.softmax(-1)
        out = weights @ v
    return out, weights
