# expect: rejected
# problem: sliding-window
# mistake: right values from L by L scores
# diagnosis: dense-scores
import math
import torch


def sliding_window_attention(q, k, v, window):
    L = q.size(-2)
    mask = torch.ones(L, L, dtype=torch.bool, device=q.device)
    mask = torch.tril(mask) & torch.triu(mask, diagonal=-(window - 1))
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))
    scores = scores.masked_fill(~mask, float("-inf"))
    return torch.softmax(scores, dim=-1) @ v
