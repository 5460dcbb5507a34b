import torch


def split_heads(x, num_heads):
    if x.ndim != 3:
        raise ValueError("x is not (B, L, E)")
    _, _, width = x.shape
    if num_heads < 1 or width % num_heads:
        raise ValueError("the heads do not divide the width")
    size = width // num_heads
    heads = [x[..., i * size : (i + 1) * size] for i in range(num_heads)]
    return torch.stack(heads, dim=1)


def merge_heads(x):
    if x.ndim != 4:
        raise ValueError("x is not (B, H, L, D)")
    batch, num_heads, length, head_dim = x.shape
    x = x.transpose(1, 2)
    return x.reshape(batch, length, num_heads * head_dim)
