# problem: paged-kv-cache
"""A key/value cache in pages."""
# H heads  D head size  P page size  T cached positions of a sequence

from collections.abc import Hashable

import torch
from torch import Tensor


class PagedKVCache:
    """Keys and values of many sequences in pages of a fixed size."""

    def __init__(self, num_pages: int, page_size: int, num_heads: int, head_dim: int) -> None:
        # TODO: reserve all memory here
        raise NotImplementedError

    def append(self, sequence: Hashable, k: Tensor, v: Tensor) -> None:
        """Add positions to a sequence; k and v are (H, tokens, D)."""
        # TODO
        raise NotImplementedError

    def gather(self, sequence: Hashable) -> tuple[Tensor, Tensor]:
        """Return all keys and values of a sequence, (H, T, D) each, oldest first."""
        # TODO
        raise NotImplementedError

    def free(self, sequence: Hashable) -> None:
        """Forget a sequence; its pages are free for others."""
        # TODO
        raise NotImplementedError
