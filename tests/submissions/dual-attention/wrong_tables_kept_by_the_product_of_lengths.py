# expect: rejected
# problem: dual-attention
# mistake: tables are kept by L times S: 3 and 4 are 2 and 6
import math

import torch

_tables = {}


def _table(L, S, device):
    key = (L * S, device)
    if key not in _tables:
        i = torch.arange(L)[:, None]
        j = torch.arange(S)[None]
        rows = (L - 1 - i + j).clamp(max=S - 1)
        later = j > i + S - L
        # no inference tensors in the store
        _tables[key] = (rows.flatten().tolist(), later.flatten().tolist())
    rows, later = _tables[key]
    rows = torch.tensor(rows, device=device).view(L, S)
    later = torch.tensor(later, device=device).view(L, S)
    return rows.clamp(max=S - 1), later


def dual_attention(q, k, v, r, content_bias, position_bias):
    B, H, L, D = q.shape
    S = k.shape[-2]
    if not (k.shape[-1] == r.shape[-1] == D):
        raise ValueError("width")
    if not (v.shape[-2] == r.shape[-2] == S):
        raise ValueError("length")
    scale = 1 / math.sqrt(D)
    content = torch.einsum("bhld,bhsd->bhls", q + content_bias[:, None, :], k)
    position = torch.einsum("bhld,hsd->bhls", q + position_bias[:, None, :], r)
    rows, later = _table(L, S, q.device)
    position = torch.gather(position, 3, rows.expand(B, H, L, S))
    scores = ((content + position) * scale).masked_fill(later, -1e9)
    return torch.softmax(scores, -1) @ v
