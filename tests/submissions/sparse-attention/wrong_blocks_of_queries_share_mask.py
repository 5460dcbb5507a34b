# expect: rejected
# problem: sparse-attention
# mistake: every block of 64 queries gets the first rows of the mask
import torch
def sparse_mask(length, window, stride, num_global):
    p = torch.arange(length)
    d = p[:, None] - p[None]
    return ((d.abs() <= window) | (d % stride == 0) | (torch.minimum(p[:, None], p[None]) < num_global))
def sparse_attention(q, k, v, mask):
    L = q.shape[-2]
    assert q.shape[-1] == k.shape[-1] and mask.shape == (L, L)
    outs = []
    for s in range(0, L, 64):
        e = min(L, s + 64)
        sc = q[:, :, s:e] @ k.transpose(-1, -2) / q.shape[-1] ** 0.5
        outs.append(sc.masked_fill(~mask[:e - s], float("-inf")).softmax(-1) @ v)
    return torch.cat(outs, 2)
