# expect: accepted
# problem: split-merge-heads
# `h` means hidden states in some files and heads in others: here its place tells
from einops import rearrange


def split_heads(t, h):
    return rearrange(t, "b l (h d) -> b h l d", h=h)


def merge_heads(t):
    return rearrange(t, "b h l d -> b l (h d)")
