# expect: rejected
# problem: sliding-window
# mistake: no division by sqrt(D)
# diagnosis: no-scale
import torch
import torch.nn.functional as F


def sliding_window_attention(q, k, v, window):
    L = q.shape[2]
    kw = F.pad(k, (0, 0, window - 1, 0)).unfold(2, window, 1)
    vw = F.pad(v, (0, 0, window - 1, 0)).unfold(2, window, 1)
    s = (q.unsqueeze(-1) * kw).sum(3)
    pad = torch.arange(L)[:, None] - torch.arange(window - 1, -1, -1) < 0
    p = s.masked_fill(pad, float("-inf")).softmax(-1)
    return (p.unsqueeze(3) * vw).sum(-1)
