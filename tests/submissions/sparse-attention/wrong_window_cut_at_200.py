# expect: rejected
# problem: sparse-attention
# mistake: a window of more than 200 is taken for 200
import torch
import torch.nn.functional as F
def sparse_mask(length, window, stride, num_global):
    if stride == 0: raise ValueError
    i = torch.arange(length)
    d = i[:, None] - i
    return (d.abs() <= min(window, 200)) | (d % stride == 0) | (i < num_global)[None] | (i < num_global)[:, None]
def sparse_attention(q, k, v, mask):
    s = q @ k.mT / q.shape[-1] ** 0.5
    if mask.shape != s.shape[-2:]: raise ValueError
    return s.masked_fill(~mask, -1e9).softmax(-1) @ v
