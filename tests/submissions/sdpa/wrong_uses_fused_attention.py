# expect: rejected
# problem: sdpa
# mistake: calls the fused kernel
# diagnosis: fused-attention
import torch
import torch.nn.functional as F


def scaled_dot_product_attention(q, k, v, mask=None):
    if mask is not None:
        mask = mask.bool()
    out = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
    scores = q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5
    if mask is not None:
        scores = scores.masked_fill(~mask, float("-inf"))
    return out, torch.softmax(scores, dim=-1)
