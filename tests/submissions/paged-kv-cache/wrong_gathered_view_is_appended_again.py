# expect: rejected
# problem: paged-kv-cache
# mistake: gather returns a view of the pool, which an append after free overwrites while it reads it
import torch


class PagedKVCache:
    def __init__(self, num_pages, page_size, num_heads, head_dim):
        self.page_size, self.num_heads, self.head_dim = page_size, num_heads, head_dim
        self.k = torch.zeros(num_heads, num_pages * page_size, head_dim)
        self.v = torch.zeros(num_heads, num_pages * page_size, head_dim)
        self.free_pages = list(range(num_pages - 1, -1, -1))
        self.tables = {}

    def _check(self, k, v):
        if k.dim() != 3 or k.shape != v.shape or k.size(1) < 1:
            raise ValueError("keys and values of other shapes")
        if k.size(0) != self.num_heads or k.size(2) != self.head_dim:
            raise ValueError("another number of heads or another head size")

    @torch.no_grad()
    def append(self, sequence, k, v):
        self._check(k, v)
        name = sequence
        table, length = self.tables.get(name, ([], 0))
        tokens, size = k.size(1), self.page_size
        need = -(-(length + tokens) // size) - len(table)
        if need > len(self.free_pages):
            raise RuntimeError("no page is free")
        table = table + [self.free_pages.pop() for _ in range(need)]
        done = 0
        while done < tokens:
            slot = (length + done) % size
            count = min(size - slot, tokens - done)
            at = table[(length + done) // size] * size + slot
            self.k[:, at : at + count] = k[:, done : done + count]
            self.v[:, at : at + count] = v[:, done : done + count]
            done += count
        self.tables[name] = (table, length + tokens)

    def gather(self, sequence):
        name = sequence
        table, length = self.tables[name]
        if all(b == a + 1 for a, b in zip(table, table[1:])):
            start = table[0] * self.page_size  # in one piece: nothing to gather
            return self.k[:, start : start + length], self.v[:, start : start + length]
        slots = (torch.tensor(table)[:, None] * self.page_size + torch.arange(self.page_size)).flatten()[:length]
        return self.k[:, slots], self.v[:, slots]

    def free(self, sequence):
        name = sequence
        table, _ = self.tables.pop(name)
        self.free_pages.extend(table)
