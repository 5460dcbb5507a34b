# expect: rejected
# problem: flash-attention
# mistake: the (L, S) matrix is there, the loop only walks over it
# diagnosis: whole-scores
import math
import torch


def flash_attention(query, key, value, block_size, is_causal=False):
    if block_size < 1 or key.size(-2) != value.size(-2):
        raise ValueError
    att = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
    if is_causal:
        att = att + torch.full(att.shape[-2:], float("-inf")).triu(1)
    mx = torch.full_like(att[..., :1], float("-inf"))
    den, num = 0.0, 0.0
    for a, b in zip(att.split(block_size, -1), value.split(block_size, -2)):
        m2 = torch.maximum(mx, a.max(-1, keepdim=True)[0])
        c, e = (mx - m2).exp(), (a - m2).exp()
        den, num, mx = den * c + e.sum(-1, keepdim=True), num * c + e @ b, m2
    return num / den
