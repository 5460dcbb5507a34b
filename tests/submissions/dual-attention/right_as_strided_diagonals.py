# expect: accepted
# problem: dual-attention
# each row of the products starts one place further to the left: a view with strides does it
import math

import torch


def relative_attention(q, k, v, r, u, w):
    B, H, L, D = q.shape
    S = k.shape[2]
    if v.shape[2] != S or r.shape[1:] != (S, D) or k.shape[3] != D:
        raise ValueError("sizes do not belong together")
    table = torch.nn.functional.pad((q + w.view(H, 1, D)) @ r.mT, (0, L)).contiguous()
    head, row = L * (S + L), S + L
    moved = table.as_strided((B, H, L, S), (H * head, head, row - 1, 1), L - 1)
    scores = (q + u.view(H, 1, D)) @ k.mT + moved
    later = torch.arange(S, device=q.device) > torch.arange(S - L, S, device=q.device).view(L, 1)
    scores = (scores / math.sqrt(D)).masked_fill(later, -math.inf)
    return scores.softmax(dim=-1) @ v
