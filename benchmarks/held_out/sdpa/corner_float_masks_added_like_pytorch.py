# problem: sdpa
# wrong: a mask means the same in every dtype; here a boolean or integer one blocks where 0, but a floating-point one is added to the scores
# needs: mask
import torch

def scaled_dot_product_attention(query, key, value, mask=None):
    L, S = query.size(-2), key.size(-2)
    scale = query.size(-1) ** -0.5
    attn_bias = torch.zeros(L, S, dtype=query.dtype, device=query.device)
    if mask is not None:
        if mask.is_floating_point():
            attn_bias = attn_bias + mask.to(query.dtype)
        else:
            attn_bias = attn_bias.masked_fill(mask.logical_not(), -1e9)
    attn_weight = query @ key.transpose(-2, -1) * scale + attn_bias
    attn_weight = torch.softmax(attn_weight, dim=-1)
    return attn_weight @ value, attn_weight
