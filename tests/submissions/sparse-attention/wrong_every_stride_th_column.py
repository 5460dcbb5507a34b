# expect: rejected
# problem: sparse-attention
# mistake: strided by column, as in the fixed pattern
# diagnosis: stride-by-column
import torch


def sparse_mask(length, window, stride, num_global):
    m = torch.zeros(length, length, dtype=torch.bool)
    for i in range(length):
        m[i, max(0, i - window) : i + window + 1] = True
    m[:, ::stride] = True
    m[:num_global] = m[:, :num_global] = True
    return m


def sparse_attention(q, k, v, mask):
    s = q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5
    return s.masked_fill(~mask, float("-inf")).softmax(-1) @ v
