# expect: accepted
# problem: rope
import numpy as np
import torch


def apply_rope(x: torch.Tensor, positions: torch.Tensor, base: float = 10_000.0, scaling: float = 1.0):
    d = x.shape[-1]
    if d % 2 == 1 or positions.shape[0] != x.shape[-2]:
        raise ValueError
    columns = [None] * d
    for i in range(d // 2):
        a, b = x[..., i], x[..., i + d // 2]
        phi = positions.numpy() / scaling * float(base) ** (-2.0 * i / d)
        c = torch.from_numpy(np.cos(phi)).to(x.dtype)
        s = torch.from_numpy(np.sin(phi)).to(x.dtype)
        columns[i] = a * c - b * s
        columns[i + d // 2] = b * c + a * s
    return torch.stack(columns, dim=-1)
