"""A key/value cache in pages: sequences of any length share one pool of memory."""
# H heads  D head size  N pages  P page size  T cached positions of a sequence

from collections.abc import Hashable

import torch
from torch import Tensor


class PagedKVCache:
    """Keys and values of many sequences in pages of a fixed size.

    Position t of a sequence stands in slot t mod P of the page that its table names at t div P.

    Source:
        Kwon et al. 2023, arXiv:2309.06180, section 4.
    """

    def __init__(self, num_pages: int, page_size: int, num_heads: int, head_dim: int) -> None:
        """Reserve all memory.

        Raises:
            ValueError: If a size is not positive.
        """
        if min(num_pages, page_size, num_heads, head_dim) < 1:
            raise ValueError("every size must be 1 or more")
        self.page_size = page_size
        self.k = torch.zeros(num_heads, num_pages, page_size, head_dim)  # (H, N, P, D)
        self.v = torch.zeros(num_heads, num_pages, page_size, head_dim)  # (H, N, P, D)
        self.unused = list(range(num_pages))
        self.pages: dict[Hashable, list[int]] = {}
        self.lengths: dict[Hashable, int] = {}

    def append(self, sequence: Hashable, k: Tensor, v: Tensor) -> None:
        """Add positions to a sequence; a sequence that is not known begins.

        Args:
            sequence: Its name.
            k: (H, tokens, D).
            v: (H, tokens, D).

        Raises:
            ValueError: If a shape is another one.
            MemoryError: If there are not enough pages; nothing has changed then.
        """
        tokens = k.shape[1]
        wanted = (self.k.shape[0], tokens, self.k.shape[3])
        if k.shape != wanted or v.shape != wanted:
            raise ValueError(f"k and v must be {wanted}, not {tuple(k.shape)}, {tuple(v.shape)}")
        length = self.lengths.get(sequence, 0)
        pages = self.pages.get(sequence, [])
        missing = -(-(length + tokens) // self.page_size) - len(pages)
        if missing > len(self.unused):
            raise MemoryError(f"{missing} pages are needed, {len(self.unused)} are free")
        pages = pages + [self.unused.pop() for _ in range(missing)]

        positions = torch.arange(length, length + tokens)  # (tokens,)
        page = torch.tensor(pages)[positions // self.page_size]  # (tokens,)
        slot = positions % self.page_size  # (tokens,)
        self.k[:, page, slot] = k
        self.v[:, page, slot] = v
        self.pages[sequence] = pages
        self.lengths[sequence] = length + tokens

    def gather(self, sequence: Hashable) -> tuple[Tensor, Tensor]:
        """Return all keys and values of a sequence, (H, T, D) each, oldest first.

        Raises:
            KeyError: If the sequence is not known.
        """
        pages = self.pages[sequence]
        length = self.lengths[sequence]
        k = self.k[:, pages].flatten(1, 2)  # (H, pages · P, D)
        v = self.v[:, pages].flatten(1, 2)  # (H, pages · P, D)
        return k[:, :length], v[:, :length]

    def free(self, sequence: Hashable) -> None:
        """Forget a sequence; its pages are free for others.

        Raises:
            KeyError: If the sequence is not known.
        """
        pages = self.pages.pop(sequence)
        self.unused.extend(pages)
        del self.lengths[sequence]
