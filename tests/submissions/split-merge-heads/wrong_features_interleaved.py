# expect: rejected
# problem: split-merge-heads
# mistake: (d h) instead of (h d)
from einops import rearrange


def split_heads(x, num_heads):
    return rearrange(x, "b l (d h) -> b h l d", h=num_heads)


def merge_heads(x):
    return rearrange(x, "b h l d -> b l (d h)")
