# problem: sdpa
# wrong: the softmax runs over the keys; here over the queries (dim -2), in every call with L > 1 or S > 1
import math
import torch

def scaled_dot_product_attention(q, k, v, mask=None):
    d = q.size(-1)
    sim = torch.einsum('...id,...jd->...ij', q, k) / math.sqrt(d)
    if mask is not None:
        sim = sim.masked_fill(mask == 0, -1e9)
    p = sim.softmax(dim=-2)
    return torch.einsum('...ij,...jd->...id', p, v), p
