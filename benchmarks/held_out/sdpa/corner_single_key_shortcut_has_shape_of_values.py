# problem: sdpa
# wrong: the output is (..., L, Dv); here a single key (S = 1) takes a shortcut that returns v itself, (..., 1, Dv), with L > 1 the wrong shape
import torch

def scaled_dot_product_attention(q, k, v, mask=None):
    if q.size(-1) != k.size(-1):
        raise ValueError('d_q != d_k')
    if k.size(-2) == 1 and v.size(-2) == 1:
        # one key: the softmax is 1 whatever the score
        w = torch.ones(*q.shape[:-1], 1, dtype=q.dtype, device=q.device)
        return v + 0 * (q.sum() + k.sum()), w + 0 * (q.sum() + k.sum())
    s = torch.einsum('...ld,...sd->...ls', q, k) * q.size(-1) ** -0.5
    if mask is not None:
        s = s.masked_fill(mask == 0, -1e9)
    w = s.softmax(-1)
    return w @ v, w
