# expect: rejected
# problem: linear-attention
# mistake: ordinary softmax attention
# diagnosis: softmax-attention
import math
import torch


def linear_attention(q, k, v, causal=False):
    s = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))
    if causal:
        s = s + torch.full(s.shape[-2:], float("-inf")).triu(1)
    return s.softmax(-1) @ v
