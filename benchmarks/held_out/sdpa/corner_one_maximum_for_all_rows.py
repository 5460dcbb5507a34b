# problem: sdpa
# wrong: large scores give finite and right results; here the largest score of the whole tensor is subtracted, rows far below it become 0/0
import torch


def stable_softmax(x):
    x = x - x.max()
    ex = torch.exp(x)
    return ex / ex.sum(-1, keepdim=True)


def scaled_dot_product_attention(q, k, v, mask=None):
    s = torch.matmul(q, k.transpose(-1, -2)) / (k.shape[-1] ** 0.5)
    if mask is not None:
        s = s.masked_fill(mask == 0, -1e9)
    a = stable_softmax(s)
    return torch.matmul(a, v), a
