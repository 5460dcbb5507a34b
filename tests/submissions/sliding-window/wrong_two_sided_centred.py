# expect: rejected
# problem: sliding-window
# mistake: a window centred on the query
# diagnosis: two-sided
import torch
import torch.nn.functional as F


def sliding_window_attention(q, k, v, window):
    half = window // 2
    outs = []
    n = q.shape[-2]
    for t in range(n):
        lo, hi = max(0, t - half), min(n, t + half + 1)
        w = F.softmax((q[:, :, t : t + 1] * k[:, :, lo:hi]).sum(-1) / q.shape[-1] ** 0.5, -1)
        outs.append((w.unsqueeze(-1) * v[:, :, lo:hi]).sum(-2))
    return torch.stack(outs, 2)
