# expect: rejected
# problem: sdpa
# mistake: unsqueezes every mask as if it were (B, S)
# diagnosis: mask-read-as-padding
import math
import torch


def scaled_dot_product_attention(q, k, v, mask=None):
    s = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))
    if mask is not None:
        mask = mask.unsqueeze(1).unsqueeze(2)
        s = s.masked_fill(mask == 0, -1e9)
    w = torch.softmax(s, -1)
    return w @ v, w
