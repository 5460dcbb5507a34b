# expect: rejected
# problem: sdpa
# mistake: q and k of different width are cut to fit
# diagnosis: widths-truncated
import math
import torch


def scaled_dot_product_attention(q, k, v, mask=None):
    d = min(q.size(-1), k.size(-1))
    s = q[..., :d] @ k[..., :d].transpose(-2, -1) / math.sqrt(d)
    if mask is not None:
        s = s.masked_fill(mask == 0, -1e9)
    w = torch.softmax(s, -1)
    return w @ v, w
