# expect: rejected
# problem: paged-kv-cache
# mistake: pages are kept under name and page number written as one: page 10 of 1 is page 0 of 11
import torch


class PagedKVCache:
    def __init__(self, num_pages, page_size, num_heads, head_dim):
        self.page_size, self.num_heads, self.head_dim = page_size, num_heads, head_dim
        self.k = torch.zeros(num_heads, num_pages * page_size, head_dim)
        self.v = torch.zeros(num_heads, num_pages * page_size, head_dim)
        self.free_pages = list(range(num_pages - 1, -1, -1))
        self.lengths, self.pages = {}, {}

    def _check(self, k, v):
        if k.dim() != 3 or k.shape != v.shape or k.size(1) < 1:
            raise ValueError("keys and values of other shapes")
        if k.size(0) != self.num_heads or k.size(2) != self.head_dim:
            raise ValueError("another number of heads or another head size")

    @torch.no_grad()
    def append(self, sequence, k, v):
        self._check(k, v)
        length, size, tokens = self.lengths.get(sequence, 0), self.page_size, k.size(1)
        old, new = -(-length // size), -(-(length + tokens) // size)
        if new - old > len(self.free_pages):
            raise RuntimeError("no page is free")
        for page in range(old, new):
            self.pages[f"{sequence!r}{page}"] = self.free_pages.pop()
        done = 0
        while done < tokens:
            slot = (length + done) % size
            count = min(size - slot, tokens - done)
            at = self.pages[f"{sequence!r}{(length + done) // size}"] * size + slot
            self.k[:, at : at + count] = k[:, done : done + count]
            self.v[:, at : at + count] = v[:, done : done + count]
            done += count
        self.lengths[sequence] = length + tokens

    def _table(self, sequence, length):
        return [f"{sequence!r}{page}" for page in range(-(-length // self.page_size))]

    def gather(self, sequence):
        length = self.lengths[sequence]
        table = [self.pages[key] for key in self._table(sequence, length)]
        slots = (torch.tensor(table)[:, None] * self.page_size + torch.arange(self.page_size)).flatten()[:length]
        return self.k[:, slots], self.v[:, slots]

    def free(self, sequence):
        length = self.lengths.pop(sequence)
        for key in self._table(sequence, length):
            if key in self.pages:
                self.free_pages.append(self.pages.pop(key))
