# expect: rejected
# problem: sdpa
# mistake: plain average of v
import torch


def scaled_dot_product_attention(q, k, v, mask=None):
    shape = torch.broadcast_shapes(q.shape[:-1] + (1,), q.shape[:-1] + (k.shape[-2],))
    allowed = torch.ones(shape, dtype=q.dtype, device=q.device)
    if mask is not None:
        allowed = allowed * mask.to(q.dtype)
    w = allowed / allowed.sum(-1, keepdim=True)
    return w @ v, w
