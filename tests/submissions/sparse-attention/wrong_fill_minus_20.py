# expect: rejected
# problem: sparse-attention
# mistake: a fill of -20
# diagnosis: fill-too-small
import torch


def sparse_mask(length, window, stride, num_global):
    i = torch.arange(length)[:, None]
    j = torch.arange(length)[None, :]
    return ((i - j).abs() <= window) | ((i - j) % stride == 0) | (i < num_global) | (j < num_global)


def sparse_attention(q, k, v, mask):
    scores = torch.matmul(q, k.transpose(-1, -2)).div(q.size(-1) ** 0.5)
    bias = (1 - mask.float()) * -20
    w = torch.where(mask, scores, bias.expand_as(scores)).softmax(-1)
    return w @ v
