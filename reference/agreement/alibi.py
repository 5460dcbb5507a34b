"""The reference against the published recursion, fused attention, and slope · j for a bias."""

import math

import torch
from reference.alibi import alibi_attention, alibi_slopes
from torch.nn import functional


def cases():
    """Yield a name, the reference's value and the other's, in float64."""
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)  # slopes have the default dtype
    try:
        for heads in (1, 2, 3, 6, 8, 12, 16, 20, 48, 71):
            slopes = torch.tensor(_published(heads))
            yield f"the published recursion, {heads} heads", alibi_slopes(heads), slopes
    finally:
        torch.set_default_dtype(before)

    k, v = (torch.randn(2, 3, 13, 5, dtype=torch.float64) for _ in range(2))
    slopes = torch.rand(3, dtype=torch.float64)
    for length in (13, 4, 1):
        q = torch.randn(2, 3, length, 5, dtype=torch.float64)
        for causal in (True, False):
            bias = torch.empty(3, length, 13, dtype=torch.float64)
            for i in range(length):
                for j in range(13):
                    apart = 13 - length + i - j
                    hidden = causal and apart < 0
                    bias[:, i, j] = -math.inf if hidden else -slopes * abs(apart)
            own = alibi_attention(q, k, v, slopes, causal)
            fused = functional.scaled_dot_product_attention(q, k, v, attn_mask=bias)
            yield f"a bias made number by number, {length} queries, causal {causal}", own, fused
        # as published: what all keys of a row have in common does not change a softmax
        scores = q @ k.mT / math.sqrt(5) + slopes.view(3, 1, 1) * torch.arange(13)
        later = torch.ones(length, 13).triu(14 - length).bool()
        other = scores.masked_fill(later, -math.inf).softmax(-1) @ v
        yield f"slope · j, {length} queries", alibi_attention(q, k, v, slopes), other


def _published(n):
    def of_power(n):
        start = 2 ** (-(2 ** -(math.log2(n) - 3)))
        return [start * start**i for i in range(n)]

    if math.log2(n).is_integer():
        return of_power(n)
    closest = 2 ** math.floor(math.log2(n))
    return of_power(closest) + _published(2 * closest)[0::2][: n - closest]
