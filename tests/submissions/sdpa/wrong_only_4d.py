# expect: rejected
# problem: sdpa
# mistake: unpacks four dimensions
# diagnosis: only-four-dimensions
import math
import torch


def scaled_dot_product_attention(q, k, v, mask=None):
    B, H, L, D = q.shape
    s = torch.einsum("bhld,bhsd->bhls", q, k) / math.sqrt(D)
    if mask is not None:
        s = s.masked_fill(mask == 0, -1e9)
    w = torch.softmax(s, -1)
    return torch.einsum("bhls,bhsd->bhld", w, v), w
