# expect: rejected
# problem: sliding-window
# mistake: only triu(-window + 1), the future is visible
# diagnosis: future-visible
import math
import torch


def sliding_window_attention(q, k, v, window):
    n = q.shape[-2]
    keep = torch.ones(n, n).triu(-window + 1)
    s = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    return torch.softmax(s.masked_fill(keep == 0, -1e9), -1) @ v
