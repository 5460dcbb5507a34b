# expect: rejected
# problem: sliding-window
# mistake: a mask of L by L is made, and cut into blocks afterwards
# diagnosis: dense-scores
import torch


def sliding_window_attention(q, k, v, window):
    n = q.shape[2]
    seen = torch.zeros(n, n, dtype=torch.bool)
    for i in range(n):
        seen[i, max(0, i - window + 1) : i + 1] = True
    out = torch.empty_like(q)
    for start in range(0, n, 64):
        stop = min(n, start + 64)
        low = max(0, start - window + 1)
        s = q[:, :, start:stop] @ k[:, :, low:stop].transpose(-1, -2) / q.shape[-1] ** 0.5
        s = s.masked_fill(~seen[start:stop, low:stop], float("-inf"))
        out[:, :, start:stop] = s.softmax(-1) @ v[:, :, low:stop]
    return out
