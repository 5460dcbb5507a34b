# problem: sdpa
# wrong: a blocked key gets weight 0; here its score becomes 0, so that it still takes a share of the softmax
# needs: mask
import torch

def scaled_dot_product_attention(q, k, v, mask=None):
    s = torch.einsum("...qd,...kd->...qk", q, k)
    s = s / q.shape[-1] ** 0.5
    if mask is not None:
        s = s * mask.to(s.dtype)
    w = torch.softmax(s, dim=-1)
    o = torch.einsum("...qk,...kd->...qd", w, v)
    return o, w
