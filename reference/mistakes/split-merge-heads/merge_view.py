'''
title = "view is called on a transposed tensor"
killed_by = "merge-shape"
explanation = """
After transpose the elements no longer lie in order, and view cannot describe the result without \
a copy: it raises."""
hint = "Which function does what view does, and copies where it has to?"
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
    batch, num_heads, length, head_dim = x.shape
    x = x.transpose(1, 2)
    return x.view(batch, length, num_heads * head_dim)
