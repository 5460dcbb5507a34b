# expect: rejected
# problem: sparse-attention
# mistake: causal pattern, as in a decoder
# diagnosis: causal-pattern
import torch


def sparse_mask(length, window, stride, num_global):
    mask = torch.zeros(length, length, dtype=torch.bool)
    for i in range(length):
        for j in range(i + 1):
            mask[i, j] = i - j <= window or (i - j) % stride == 0 or j < num_global
    return mask


def sparse_attention(q, k, v, mask):
    s = q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5
    return s.masked_fill(~mask, float("-inf")).softmax(-1) @ v
