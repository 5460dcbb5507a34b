# expect: rejected
# problem: sparse-attention
# mistake: a mask of 0 and 1 in float32
# diagnosis: mask-of-numbers
import torch


def sparse_mask(length, window, stride, num_global):
    mask = torch.zeros(length, length)
    for i in range(length):
        for j in range(length):
            if abs(i - j) <= window or (i - j) % stride == 0 or min(i, j) < num_global:
                mask[i, j] = 1
    return mask


def sparse_attention(q, k, v, mask):
    s = q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5
    return s.masked_fill(mask == 0, -1e9).softmax(-1) @ v
