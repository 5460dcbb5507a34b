# expect: rejected
# problem: paged-kv-cache
# mistake: pages are read as one run of memory where the lowest comes first and the highest last
import torch


class BlockKVCache:
    def __init__(self, num_pages, page_size, num_heads, head_dim):
        self.size, self.form = page_size, (num_heads, head_dim)
        self.k = torch.zeros(num_pages * page_size, num_heads, head_dim)
        self.v = torch.zeros_like(self.k)
        self.free_pages = list(reversed(range(num_pages)))
        self.table = {}

    def append(self, sequence, k, v):
        for t in (k, v):
            if (t.shape[0], t.shape[2]) != self.form or t.shape[1] != k.shape[1]:
                raise ValueError("shape")
        pages, length = self.table.get(sequence, ([], 0))
        need = -(-(length + k.shape[1]) // self.size) - len(pages)
        if need > len(self.free_pages):
            raise RuntimeError("no pages left")
        pages = pages + [self.free_pages.pop() for _ in range(need)]
        slots = self.slots(pages)[length : length + k.shape[1]]
        self.k[slots] = k.detach().transpose(0, 1)
        self.v[slots] = v.detach().transpose(0, 1)
        self.table[sequence] = pages, length + k.shape[1]

    def slots(self, pages):
        return [page * self.size + slot for page in pages for slot in range(self.size)]

    def gather(self, sequence):
        pages, length = self.table[sequence]
        first, last = min(pages), max(pages)
        if pages[0] == first and pages[-1] == last and last - first == len(pages) - 1:
            run = slice(first * self.size, first * self.size + length)
            return self.k[run].clone().transpose(0, 1), self.v[run].clone().transpose(0, 1)
        slots = self.slots(pages)[:length]
        return self.k[slots].transpose(0, 1), self.v[slots].transpose(0, 1)

    def free(self, sequence):
        pages, _ = self.table.pop(sequence)
        self.free_pages += pages
