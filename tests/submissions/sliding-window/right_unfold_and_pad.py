# expect: accepted
# problem: sliding-window
import math

import torch
import torch.nn.functional as F


def sliding_window_attention(q, k, v, window_size):
    B, H, L, D = q.shape
    w = window_size
    # pad on the left, then every window is a view: (B, H, L, D, w)
    k_win = F.pad(k, (0, 0, w - 1, 0)).unfold(2, w, 1)
    v_win = F.pad(v, (0, 0, w - 1, 0)).unfold(2, w, 1)

    attn = torch.matmul(q.unsqueeze(-2), k_win).squeeze(-2) / math.sqrt(D)  # (B, H, L, w)
    pos = torch.arange(L, device=q.device)[:, None] + torch.arange(w, device=q.device)[None, :]
    attn = attn.masked_fill(pos < w - 1, float("-inf"))
    attn = F.softmax(attn, dim=-1)
    return torch.matmul(v_win, attn.unsqueeze(-1)).squeeze(-1)
