"""The pattern against loops over pairs, the attention against PyTorch's fused one."""

import torch
from reference.sparse_attention import sparse_attention, sparse_mask
from torch.nn import functional


def cases():
    """Yield a name, the reference's value and another's, in float64."""
    for case in ((11, 2, 4, 1), (13, 0, 5, 0), (7, 1, 9, 3), (6, 3, 1, 0), (5, 9, 2, 7)):
        own = sparse_mask(*case).to(torch.float64)
        yield f"loops over pairs {case}", own, _pair_by_pair(*case)

    q, k, v = (torch.randn(2, 3, 11, 5, dtype=torch.float64) for _ in range(3))
    lopsided = torch.rand(11, 11) < 0.4
    lopsided.fill_diagonal_(True)
    for name, mask in (("a pattern", sparse_mask(11, 1, 4, 2)), ("a random mask", lopsided)):
        other = functional.scaled_dot_product_attention(q, k, v, attn_mask=mask)
        yield f"scaled_dot_product_attention with {name}", sparse_attention(q, k, v, mask), other


def _pair_by_pair(length, window, stride, num_global):
    """Return (L, L) of 0 and 1, set by walking along what each condition reaches."""
    mask = torch.zeros(length, length, dtype=torch.float64)
    for i in range(length):
        for step in range(window + 1):
            for j in (i - step, i + step):
                if 0 <= j < length:
                    mask[i, j] = 1
        for j in (*range(i, length, stride), *range(i, -1, -stride)):
            mask[i, j] = 1
    mask[:num_global] = 1
    mask[:, :num_global] = 1
    return mask
