# expect: rejected
# problem: split-merge-heads
# mistake: Python loop over heads
import torch


def split_heads(x, num_heads):
    B, L, E = x.shape
    if E % num_heads != 0:
        raise ValueError("bad number of heads")
    D = E // num_heads
    heads = []
    for i in range(num_heads):
        heads.append(x[:, :, i * D : (i + 1) * D])
    return torch.stack(heads, dim=1)


def merge_heads(x):
    parts = []
    for i in range(x.shape[1]):
        parts.append(x[:, i])
    return torch.cat(parts, dim=-1)
