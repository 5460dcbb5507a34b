# expect: rejected
# problem: sdpa
# mistake: divides by D, not by its root
# diagnosis: scale-by-d
import torch
import torch.nn.functional as F


def attention(query, key, value, mask=None):
    d_k = query.size(-1)
    scores = query @ key.transpose(-2, -1) / d_k
    if mask is not None:
        scores = scores.masked_fill(mask == 0, -1e9)
    p_attn = F.softmax(scores, dim=-1)
    return p_attn @ value, p_attn
