"""Splitting features into heads, and merging heads into features."""
# B batch  L length  H heads  D head size  E width, E = H·D

from torch import Tensor


def split_heads(x: Tensor, num_heads: int) -> Tensor:
    """Return heads with heads[b, h, l, d] = x[b, l, h·D + d].

    Args:
        x: Features, (B, L, E), any dtype.
        num_heads: H; divides E.

    Returns:
        (B, H, L, D), in the dtype of `x`; a view where the strides of `x` admit one.

    Raises:
        ValueError: If `x` is not 3-D, or `num_heads` does not divide E.

    Source:
        Vaswani et al. 2017, arXiv:1706.03762v7, section 3.2.2.
    """
    if x.ndim != 3:
        raise ValueError(f"x has shape {tuple(x.shape)}; split_heads needs (B, L, E)")
    batch, length, width = x.shape
    if num_heads < 1 or width % num_heads:
        raise ValueError(f"{num_heads} heads do not divide a width of {width}")

    x = x.reshape(batch, length, num_heads, width // num_heads)  # (B, L, H, D)
    return x.transpose(1, 2)  # (B, H, L, D)


def merge_heads(x: Tensor) -> Tensor:
    """Return features with features[b, l, h·D + d] = x[b, h, l, d]: undo `split_heads`.

    Args:
        x: Heads, (B, H, L, D), any dtype, contiguous or not.

    Returns:
        (B, L, E), in the dtype of `x`.

    Raises:
        ValueError: If `x` is not 4-D.

    Source:
        Vaswani et al. 2017, arXiv:1706.03762v7, section 3.2.2.
    """
    if x.ndim != 4:
        raise ValueError(f"x has shape {tuple(x.shape)}; merge_heads needs (B, H, L, D)")
    batch, num_heads, length, head_dim = x.shape

    x = x.transpose(1, 2)  # (B, L, H, D)
    return x.reshape(batch, length, num_heads * head_dim)  # (B, L, E)
