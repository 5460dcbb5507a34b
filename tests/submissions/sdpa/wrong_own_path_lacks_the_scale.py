# expect: rejected
# problem: sdpa
# mistake: uses torch's attention, and where there is none forgets to divide by sqrt(D)
import torch
import torch.nn.functional as F


def scaled_dot_product_attention(q, k, v, mask=None):
    scores = q @ k.transpose(-2, -1)
    if mask is not None:
        mask = mask != 0
        scores = scores.masked_fill(~mask, float("-inf"))
    if hasattr(F, "scaled_dot_product_attention"):
        out = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
        weights = torch.softmax(scores / q.shape[-1] ** 0.5, dim=-1)
    else:
        weights = torch.softmax(scores, dim=-1)
        out = weights @ v
    return out, weights
