# expect: rejected
# problem: paged-kv-cache
# mistake: a defaultdict makes every name known
from collections import defaultdict

import torch


class PagedKVCache:
    def __init__(self, num_pages, page_size, num_heads, head_dim):
        self.P = page_size
        self.k = torch.zeros(num_heads, num_pages, page_size, head_dim)
        self.v = torch.zeros(num_heads, num_pages, page_size, head_dim)
        self.free_list = list(range(num_pages))
        self.pages, self.length = defaultdict(list), defaultdict(int)

    def append(self, sequence, k, v):
        assert k.shape == v.shape and k.shape[0] == self.k.shape[0]
        assert k.shape[2] == self.k.shape[3]
        end = self.length[sequence] + k.shape[1]
        need = -(-end // self.P) - len(self.pages[sequence])
        if need > len(self.free_list):
            raise MemoryError
        self.pages[sequence] += [self.free_list.pop(0) for _ in range(need)]
        where = torch.arange(self.length[sequence], end)
        page = torch.tensor(self.pages[sequence])[where // self.P]
        self.k[:, page, where % self.P] = k
        self.v[:, page, where % self.P] = v
        self.length[sequence] = end

    def gather(self, sequence):
        n = self.length[sequence]
        pages = self.pages[sequence]
        return self.k[:, pages].flatten(1, 2)[:, :n], self.v[:, pages].flatten(1, 2)[:, :n]

    def free(self, sequence):
        self.free_list += self.pages.pop(sequence, [])
        self.length.pop(sequence, 0)
