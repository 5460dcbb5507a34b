# expect: accepted
# problem: paged-kv-cache
from dataclasses import dataclass, field

import torch


@dataclass
class Table:
    pages: list = field(default_factory=list)
    length: int = 0


class PagedCache:
    """Takes its dtype and device from the first keys that arrive."""

    def __init__(self, num_pages: int, page_size: int, num_heads: int, head_dim: int):
        self.geometry = num_pages, page_size, num_heads, head_dim
        self.pool = None
        self.stack = list(reversed(range(num_pages)))
        self.tables: dict = {}

    def append(self, sequence, k, v):
        pages, size, heads, dim = self.geometry
        for t in (k, v):
            if t.dim() != 3 or t.shape[0] != heads or t.shape[2] != dim:
                raise ValueError("expected (heads, tokens, dim)")
        if k.shape[1] != v.shape[1]:
            raise ValueError("as many keys as values")
        if self.pool is None:
            self.pool = torch.zeros(pages, size, 2, heads, dim, dtype=k.dtype, device=k.device)
        table = self.tables.get(sequence, Table())
        free_slots = len(table.pages) * size - table.length
        needed = -(-(max(0, k.shape[1] - free_slots)) // size)
        if needed > len(self.stack):
            raise RuntimeError("full")
        table.pages += [self.stack.pop() for _ in range(needed)]
        both = torch.stack((k, v)).permute(2, 0, 1, 3)  # tokens, 2, heads, dim
        for i, item in enumerate(both, start=table.length):
            self.pool[table.pages[i // size], i % size].copy_(item)
        table.length += k.shape[1]
        self.tables[sequence] = table

    def gather(self, sequence):
        table = self.tables[sequence]
        rows = self.pool[torch.tensor(table.pages)].flatten(0, 1)[: table.length]
        return tuple(rows.permute(1, 2, 0, 3).unbind(0))

    def free(self, sequence):
        self.stack += self.tables.pop(sequence).pages
