# expect: accepted
# problem: paged-kv-cache
# 分页缓存：逐页写入
import math

import torch


class PagedKVCache:
    def __init__(self, n_pages, size, heads, dim):
        self.size = size
        self.shape = (heads, dim)
        self.K = [torch.zeros(heads, size, dim) for _ in range(n_pages)]
        self.V = [torch.zeros(heads, size, dim) for _ in range(n_pages)]
        self.owner = [None] * n_pages
        self.used = {}

    def _pages_of(self, seq):
        return [page for page in self.used[seq][0]]

    def append(self, seq, k, v):
        heads, dim = self.shape
        if tuple(k.shape) != (heads, k.shape[1], dim) or k.shape != v.shape:
            raise ValueError(k.shape)
        pages, length = self.used.get(seq, ((), 0))
        total = math.ceil((length + k.shape[1]) / self.size)
        empty = [i for i, who in enumerate(self.owner) if who is None]
        extra = total - len(pages)
        if extra > len(empty):
            raise RuntimeError("no pages left")
        new = empty[:extra]
        for page in new:
            self.owner[page] = seq
        pages = (*pages, *new)
        done = 0
        while done < k.shape[1]:
            page, slot = divmod(length + done, self.size)
            count = min(self.size - slot, k.shape[1] - done)
            self.K[pages[page]][:, slot : slot + count] = k[:, done : done + count]
            self.V[pages[page]][:, slot : slot + count] = v[:, done : done + count]
            done += count
        self.used[seq] = (pages, length + k.shape[1])

    def gather(self, seq):
        if seq not in self.used:
            raise KeyError(seq)
        pages, length = self.used[seq]
        k = torch.cat([self.K[p] for p in pages], dim=1)[:, :length]
        v = torch.cat([self.V[p] for p in pages], dim=1)[:, :length]
        return [k, v]

    def free(self, seq):
        pages, _ = self.used.pop(seq)
        for page in pages:
            self.owner[page] = None
