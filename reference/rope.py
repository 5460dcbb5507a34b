"""Rotary position embedding."""
# B batch  H heads  L length  D head size

import torch
from torch import Tensor


def apply_rope(x: Tensor, positions: Tensor, base: float = 10000.0) -> Tensor:
    """Return x with features i and i + D/2 turned by the angle m θᵢ at position m.

    With θᵢ = base^(−2i/D) for i = 0 … D/2 − 1, each pair (a, b) of features becomes

        a cos(m θᵢ) − b sin(m θᵢ),   b cos(m θᵢ) + a sin(m θᵢ)

    Args:
        x: Queries or keys, (B, H, L, D), floating point, D even.
        positions: Position of each token, (L,), integers, in any order.
        base: What the frequencies are powers of.

    Returns:
        The turned x, (B, H, L, D), in the dtype of `x`.

    Raises:
        ValueError: If D is odd, or if there is not one position for each token.

    Sources:
        Su et al. 2021, arXiv:2104.09864, equation 15 for the angles and equation 34 for the
        products with cosine and sine. The paper pairs features 2i and 2i + 1; that features i and
        i + D/2 make a pair is the convention of GPT-NeoX (Black et al. 2022, arXiv:2204.06745),
        and of Llama's checkpoints as most libraries store them.
    """
    if x.shape[-1] % 2:
        raise ValueError(f"{x.shape[-1]} features cannot be paired; an even D is needed")
    if positions.shape != x.shape[-2:-1]:
        raise ValueError(f"positions of shape {tuple(positions.shape)} for {x.shape[-2]} tokens")

    # bfloat16 cannot tell position 1000 from 1001: angles are never computed in half precision
    dtype = torch.promote_types(x.dtype, torch.get_default_dtype())
    exponents = torch.arange(0, x.shape[-1], 2, dtype=dtype, device=x.device) / x.shape[-1]
    angles = positions.to(dtype).unsqueeze(-1) * base**-exponents  # (L, D/2)
    cos = angles.cos().to(x.dtype)
    sin = angles.sin().to(x.dtype)

    first, second = x.chunk(2, dim=-1)  # (B, H, L, D/2) each
    turned = (first * cos - second * sin, second * cos + first * sin)
    return torch.cat(turned, dim=-1)  # (B, H, L, D)
