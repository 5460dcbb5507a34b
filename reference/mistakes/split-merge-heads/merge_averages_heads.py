'''
title = "The heads are averaged and the mean is repeated"
killed_by = "merge-values"
explanation = """
A mean over heads throws away which head said what, and repeating it brings nothing back. Only \
the output map mixes heads, with weights that are learned."""
hint = "Give head 0 ones and head 1 zeros. What should one row hold?"
'''


def split_heads(x, num_heads):
    if x.ndim != 3:
        raise ValueError("x is not (B, L, E)")
    batch, length, width = x.shape
    if num_heads < 1 or width % num_heads:
        raise ValueError("the heads do not divide the width")
    x = x.reshape(batch, length, num_heads, width // num_heads)
    return x.transpose(1, 2)


def merge_heads(x):
    if x.ndim != 4:
        raise ValueError("x is not (B, H, L, D)")
    return x.mean(dim=1).repeat(1, 1, x.shape[1])
