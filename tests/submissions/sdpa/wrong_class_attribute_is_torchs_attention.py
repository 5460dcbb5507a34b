# expect: rejected
# problem: sdpa
# mistake: an attribute of an own class is torch's function
# diagnosis: fused-attention
import math

import torch
from torch.nn import functional


class ScaledDotProductAttention:
    attend = staticmethod(functional.scaled_dot_product_attention)

    def __call__(self, q, k, v, mask=None):
        scores = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])
        allowed = None
        if mask is not None:
            allowed = mask != 0
            scores = scores.masked_fill(~allowed, float("-inf"))
        return self.attend(q, k, v, allowed), torch.softmax(scores, -1)
