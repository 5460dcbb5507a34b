# expect: rejected
# problem: sliding-window
# mistake: the diagonal is off by one, so window + 1 keys are seen
# diagnosis: one-key-too-many
import math
import torch


def sliding_window_attention(q, k, v, window):
    L = q.size(-2)
    ones = torch.ones(L, L, device=q.device)
    mask = torch.tril(ones) - torch.tril(ones, diagonal=-window - 1)
    scores = torch.matmul(q, k.transpose(-2, -1)) / math.sqrt(q.size(-1))
    scores = scores.masked_fill(mask == 0, -1e9)
    return torch.matmul(scores.softmax(-1), v)
