'''
title = "On a GPU the inputs are rounded to half precision"
killed_by = "gpu-values"
explanation = """
Half precision is faster on a GPU and has three digits. A caller who passes float32 asked for \
seven."""
hint = "In which dtype does the caller want the answer to be right?"
device = "cuda"
by_chance = true
'''


def split_heads(x, num_heads):
    if x.ndim != 3:
        raise ValueError(f"x has shape {tuple(x.shape)}; split_heads needs (B, L, E)")
    batch, length, width = x.shape
    if num_heads < 1 or width % num_heads:
        raise ValueError(f"{num_heads} heads do not divide a width of {width}")
    x = x.half().to(x.dtype) if x.is_cuda else x
    x = x.reshape(batch, length, num_heads, width // num_heads)
    return x.transpose(1, 2)


def merge_heads(x):
    if x.ndim != 4:
        raise ValueError(f"x has shape {tuple(x.shape)}; merge_heads needs (B, H, L, D)")
    batch, num_heads, length, head_dim = x.shape
    x = x.transpose(1, 2)
    return x.reshape(batch, length, num_heads * head_dim)
