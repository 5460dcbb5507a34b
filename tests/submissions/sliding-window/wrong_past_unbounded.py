# expect: rejected
# problem: sliding-window
# mistake: causal, but the window is never used
# diagnosis: window-ignored
import math
import torch


def sliding_window_attention(q, k, v, window):
    s = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    s = s + torch.full(s.shape[-2:], float("-inf")).triu(1)
    return torch.softmax(s, -1) @ v
