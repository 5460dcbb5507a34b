# expect: rejected
# problem: sdpa
# mistake: divides by sqrt(S)
# diagnosis: scale-by-sqrt-key-length
import math
import torch


def sdpa(q, k, v, mask=None):
    scores = torch.einsum("...ld,...sd->...ls", q, k) / math.sqrt(k.shape[-2])
    if mask is not None:
        scores = scores.masked_fill(mask == 0, float("-inf"))
    w = scores.softmax(-1)
    return torch.einsum("...ls,...sd->...ld", w, v), w
