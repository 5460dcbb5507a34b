# expect: accepted
# problem: sparse-attention
"""The mask is painted with slices, and each query gathers just the keys that it may see."""

import torch


def make_sparse_mask(n, w, s, g):
    if s <= 0:
        raise ValueError("stride must be positive")
    m = torch.zeros(n, n, dtype=torch.bool)
    for i in range(n):
        m[i, max(0, i - w) : i + w + 1] = True
        m[i, i % s :: s] = True
    m[:g, :] = True
    m[:, :g] = True
    return m


def sparse_attn(q, k, v, mask):
    if mask.shape[-1] != q.shape[2]:
        raise ValueError("mask does not fit")
    out = torch.zeros_like(q)
    for i in range(q.shape[2]):
        idx = mask[i].nonzero().flatten()
        if len(idx) == 0:
            continue
        ki, vi = k[:, :, idx], v[:, :, idx]
        a = torch.einsum("bhd,bhnd->bhn", q[:, :, i], ki) * q.shape[-1] ** -0.5
        out[:, :, i] = torch.einsum("bhn,bhnd->bhd", a.softmax(-1), vi)
    return out
