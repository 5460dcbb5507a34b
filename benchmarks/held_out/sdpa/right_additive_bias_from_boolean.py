# problem: sdpa
# right: turns the 0/1 mask into a bias of 0 and a very low number that is added to the scores
import torch

def scaled_dot_product_attention(query, key, value, mask=None):
    """query (..., L, D), key (..., S, D), value (..., S, Dv)"""
    d_k = query.size(-1)
    if key.size(-1) != d_k: raise ValueError("d_k")
    if key.size(-2) != value.size(-2): raise ValueError("S")

    scores = (query / d_k**0.5) @ key.transpose(-1, -2)

    if mask is not None:
        bias = torch.zeros(mask.shape, dtype=scores.dtype, device=scores.device)
        bias = bias.masked_fill(mask == 0, torch.finfo(scores.dtype).min / 2)
        scores = scores + bias

    attention_weights = scores.softmax(-1)
    return attention_weights @ value, attention_weights
