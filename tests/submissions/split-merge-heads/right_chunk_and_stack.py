# expect: accepted
# problem: split-merge-heads
import torch


def split_heads(x, h):
    if x.size(-1) % h:
        raise RuntimeError("embedding size must be divisible by the number of heads")
    return torch.stack(x.chunk(h, dim=-1), dim=1)


def merge_heads(x):
    return torch.cat(x.unbind(dim=1), dim=-1)
