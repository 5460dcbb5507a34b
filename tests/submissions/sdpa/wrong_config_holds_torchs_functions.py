# expect: rejected
# problem: sdpa
# mistake: a field of a configuration is the module of torch's functions
# diagnosis: fused-attention
import math
from types import SimpleNamespace

import torch

config = SimpleNamespace(ops=torch.nn.functional, use_flash_attention=True)


def attention(q, k, v, mask=None):
    scores = torch.einsum("...ld,...sd->...ls", q, k) / math.sqrt(q.shape[-1])
    if mask is not None:
        scores = scores.masked_fill(mask == 0, -1e9)
        mask = mask.bool()
    attend = config.ops.scaled_dot_product_attention
    return attend(q, k, v, attn_mask=mask), scores.softmax(-1)
