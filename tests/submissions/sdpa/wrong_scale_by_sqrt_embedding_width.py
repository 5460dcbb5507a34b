# expect: rejected
# problem: sdpa
# mistake: divides by sqrt(H*D)
# diagnosis: scale-by-sqrt-model-width
import math
import torch


def scaled_dot_product_attention(q, k, v, mask=None):
    # (batch, heads, length, depth)
    d_model = q.shape[-1] * q.shape[1] if q.dim() == 4 else q.shape[-1]
    logits = (q @ k.transpose(-2, -1)) / math.sqrt(d_model)
    if mask is not None:
        logits = logits.masked_fill(mask == 0, -1e9)
    weights = torch.softmax(logits, dim=-1)
    return weights @ v, weights
