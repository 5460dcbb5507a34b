# expect: rejected
# problem: sparse-attention
# mistake: positions above 127 wrap around
import torch
def sparse_mask(length, window, stride, num_global):
    p = torch.arange(length).to(torch.int8)
    d = p[:, None] - p[None]
    return (d.abs() <= window) | (d % stride == 0) | (torch.minimum(p[:, None], p[None]) < num_global)
def sparse_attention(q, k, v, mask):
    s = q @ k.transpose(-1, -2) / q.shape[-1] ** 0.5
    return s.masked_fill(~mask, float("-inf")).softmax(-1) @ v
