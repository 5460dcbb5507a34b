# expect: accepted
# problem: split-merge-heads
import torch


def split_heads(x, n_heads):
    return x.unflatten(-1, (n_heads, -1)).swapaxes(1, 2)


def combine_heads(x):
    return x.swapaxes(1, 2).flatten(-2)
