# expect: rejected
# problem: sparse-attention
# mistake: window means the width of both sides
# diagnosis: window-halved
import torch


def sparse_mask(length, window, stride, num_global):
    half = window // 2
    mask = torch.ones(length, length).tril(half).triu(-half).bool()
    idx = torch.arange(length)
    mask |= (idx[:, None] - idx) % stride == 0
    mask[:num_global, :] = True
    mask[:, :num_global] = True
    return mask


def sparse_attention(q, k, v, mask):
    s = q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5
    return s.masked_fill(~mask, float("-inf")).softmax(-1) @ v
