"""Linear attention."""
# B batch  H heads  L length  D head size of queries and keys  E that of values, E = D

import torch
from torch import Tensor


def linear_attention(q: Tensor, k: Tensor, v: Tensor, causal: bool = False) -> Tensor:
    """Return attention with the weights φ(qᵢ) · φ(kⱼ), φ(x) = elu(x) + 1, rows divided by sums.

    outputᵢ = φ(qᵢ)ᵀ Σⱼ φ(kⱼ) vⱼᵀ / (φ(qᵢ)ᵀ Σⱼ φ(kⱼ)), over all j, or over j ≤ i where causal.
    The sums over j do not depend on the query, so the work is O(L · D²). The causal form keeps
    a sum for every position: prefix sums, O(L · D²) numbers.

    Args:
        q: Queries, (B, H, L, D), floating point.
        k: Keys, (B, H, L, D), same dtype.
        v: Values, (B, H, L, D), same dtype.
        causal: Whether position i attends to 0 … i only.

    Returns:
        Output (B, H, L, D), in the dtype of `q`.

    Raises:
        ValueError: If the shapes of `q`, `k` and `v` differ.

    Source:
        Katharopoulos et al. 2020, arXiv:2006.16236, equations 5 and 7, causal: 9 to 12.
    """
    if not q.shape == k.shape == v.shape:
        raise ValueError(
            f"q {tuple(q.shape)}, k {tuple(k.shape)} and v {tuple(v.shape)} must have one shape"
        )
    queries = torch.nn.functional.elu(q) + 1  # (B, H, L, D), every number above 0
    keys = torch.nn.functional.elu(k) + 1

    if causal:
        states = torch.einsum("bhld,bhle->bhlde", keys, v).cumsum(dim=2)  # (B, H, L, D, E)
        numerator = torch.einsum("bhld,bhlde->bhle", queries, states)  # (B, H, L, E)
        sums = keys.cumsum(dim=2)  # (B, H, L, D)
    else:
        state = torch.einsum("bhld,bhle->bhde", keys, v)  # (B, H, D, E)
        numerator = torch.einsum("bhld,bhde->bhle", queries, state)  # (B, H, L, E)
        sums = keys.sum(dim=2, keepdim=True)  # (B, H, 1, D)
    denominator = (queries * sums).sum(dim=-1, keepdim=True)  # (B, H, L, 1)
    return numerator / denominator
