# expect: accepted
# problem: paged-kv-cache
import torch


class PagedKVCache:
    def __init__(self, num_pages, page_size, num_heads, head_dim):
        self.P, self.H, self.D = page_size, num_heads, head_dim
        self.k_pool = torch.empty(num_pages, page_size, num_heads, head_dim)
        self.v_pool = torch.empty(num_pages, page_size, num_heads, head_dim)
        self.free_pages = set(range(num_pages))
        self.table = {}  # sequence -> [pages, length]

    def append(self, sequence, k, v):
        if k.shape != v.shape or k.shape[0] != self.H or k.shape[2] != self.D:
            raise ValueError("bad shapes")
        n = k.shape[1]
        pages, length = self.table.get(sequence, ([], 0))
        room = len(pages) * self.P - length + len(self.free_pages) * self.P
        if n > room:
            raise RuntimeError("cache is full")
        pages = list(pages)
        for t in range(n):
            pos = length + t
            if pos // self.P == len(pages):
                pages.append(self.free_pages.pop())
            page = pages[pos // self.P]
            self.k_pool[page, pos % self.P] = k[:, t]
            self.v_pool[page, pos % self.P] = v[:, t]
        self.table[sequence] = (pages, length + n)

    def gather(self, sequence):
        pages, length = self.table[sequence]
        ks = torch.cat([self.k_pool[p] for p in pages])[:length]
        vs = torch.cat([self.v_pool[p] for p in pages])[:length]
        return ks.permute(1, 0, 2), vs.permute(1, 0, 2)

    def free(self, sequence):
        pages, _ = self.table.pop(sequence)
        self.free_pages |= set(pages)
