# expect: rejected
# problem: flash-attention
# mistake: no blocks at all
import torch


def flash_attention(q, k, v, block_size, causal=False):
    if block_size < 1:
        raise ValueError
    s = q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5
    if causal:
        s = s.masked_fill(torch.ones(s.shape[-2:]).triu(1).bool(), float("-inf"))
    return torch.softmax(s, -1) @ v
