'''
title = "The frequencies are made on the CPU"
killed_by = "gpu-device"
explanation = """
On a CPU nothing shows. On a GPU torch refuses to mix the tensor, which lies in the CPU's \
memory, with the others, which lie in the GPU's."""
hint = "Where does torch.arange put a tensor if it is not told?"
device = "cuda"
by_check = true
says = "makes a tensor on the CPU"
'''

import torch


def apply_rope(x, positions, base=10000.0):
    if x.shape[-1] % 2:
        raise ValueError(f"{x.shape[-1]} features cannot be paired; an even D is needed")
    if positions.shape != x.shape[-2:-1]:
        raise ValueError(f"positions of shape {tuple(positions.shape)} for {x.shape[-2]} tokens")
    dtype = torch.promote_types(x.dtype, torch.get_default_dtype())
    exponents = torch.arange(0, x.shape[-1], 2, dtype=dtype) / x.shape[-1]
    angles = positions.to(dtype).unsqueeze(-1) * base ** (-exponents)
    cos = angles.cos().to(x.dtype)
    sin = angles.sin().to(x.dtype)
    first, second = x.chunk(2, dim=-1)
    turned = (first * cos - second * sin, second * cos + first * sin)
    return torch.cat(turned, dim=-1)
