# expect: accepted
# problem: sdpa
import numpy as np
import torch

print("torch", torch.__version__)


def dot_product_attention(q, k, v, mask=None):
    assert q.shape[-1] == k.shape[-1], "q and k must have the same depth"
    logits = torch.einsum("...id,...jd->...ij", q, k) / float(np.sqrt(k.shape[-1]))
    if mask is not None:
        bias = torch.zeros(mask.shape, dtype=logits.dtype, device=logits.device)
        bias = bias.masked_fill(mask == 0, torch.finfo(logits.dtype).min / 2)
        logits = logits + bias
    weights = torch.softmax(logits, dim=-1)
    return [torch.einsum("...ij,...jd->...id", weights, v), weights]


q = torch.randn(1, 2, 3, 4)
print("demo:", dot_product_attention(q, q, q)[0].shape)
