# expect: accepted
# problem: sdpa
import torch
from einops import einsum


def scaled_dot_product(q, k, v, mask=None):
    attn_logits = einsum(q, k, "... l d, ... s d -> ... l s")
    attn_logits = attn_logits / q.size()[-1] ** 0.5
    if mask is not None:
        # filling our own fresh tensor, not an argument of the caller
        attn_logits.masked_fill_(mask == 0, -9e15)
    attention = torch.softmax(attn_logits, dim=-1)
    values = einsum(attention, v, "... l s, ... s d -> ... l d")
    return values, attention
