# expect: rejected
# problem: split-merge-heads
# mistake: mean over heads, repeated
# diagnosis: merge-averages-heads
import torch


def split_heads(x, num_heads):
    return torch.stack(x.unflatten(-1, (num_heads, -1)).unbind(2), dim=1)


def merge_heads(x):
    return x.mean(dim=1).repeat(1, 1, x.shape[1])
