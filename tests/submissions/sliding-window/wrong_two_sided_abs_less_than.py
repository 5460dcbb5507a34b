# expect: rejected
# problem: sliding-window
# mistake: |i - j| < window, the future is visible
# diagnosis: two-sided
import math
import torch


def sliding_window_attention(q, k, v, window):
    pos = torch.arange(q.size(2), device=q.device)
    near = (pos[:, None] - pos[None, :]).abs() < window
    scores = q @ k.mT / math.sqrt(q.size(3))
    return scores.masked_fill(~near, float("-inf")).softmax(-1) @ v
