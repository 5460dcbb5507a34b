# expect: accepted
# problem: sliding-window
"""Blocks of `window` queries, each against its own block and the one before."""

import torch
from torch import Tensor


def _blocks(t: Tensor, size: int, count: int) -> Tensor:
    missing = size * count - t.size(2)
    t = torch.nn.functional.pad(t, (0, 0, 0, missing))
    return t.reshape(t.size(0), t.size(1), count, size, t.size(3))


def _with_previous(t: Tensor) -> Tensor:
    before = torch.cat([torch.zeros_like(t[:, :, :1]), t[:, :, :-1]], dim=2)
    return torch.cat([before, t], dim=3)


def local_attention(q: Tensor, k: Tensor, v: Tensor, window: int) -> Tensor:
    length, dim = q.shape[-2:]
    size = min(window, length)
    count = -(-length // size)

    bq = _blocks(q, size, count)  # b h n s d
    bk = _with_previous(_blocks(k, size, count))  # b h n 2s d
    bv = _with_previous(_blocks(v, size, count))

    sim = torch.einsum("bhnid,bhnjd->bhnij", bq, bk) * dim**-0.5
    i = torch.arange(size, device=q.device).view(1, size, 1) + size
    j = torch.arange(2 * size, device=q.device).view(1, 1, 2 * size)
    first = torch.arange(count, device=q.device).view(count, 1, 1) == 0
    hidden = (j > i) | (i - j >= size) | (first & (j < size))
    sim = sim.masked_fill(hidden, -torch.finfo(sim.dtype).max)
    out = sim.softmax(dim=-1) @ bv
    return out.reshape(*out.shape[:2], -1, dim)[:, :, :length]
