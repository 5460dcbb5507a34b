# expect: accepted
# problem: split-merge-heads
from einops import rearrange


def split_heads(x, num_heads):
    return rearrange(x, "b l (h d) -> b h l d", h=num_heads)


def merge_heads(x):
    return rearrange(x, "b h l d -> b l (h d)")
