# expect: rejected
# problem: paged-kv-cache
# mistake: no pool at all: each sequence is a tensor that grows, and pages are only counted
import torch


class PagedKVCache:
    def __init__(self, num_pages, page_size, num_heads, head_dim):
        self.n, self.p, self.h, self.d = num_pages, page_size, num_heads, head_dim
        self.k, self.v = {}, {}

    def _pages(self, tokens):
        return (tokens + self.p - 1) // self.p

    def append(self, sequence, k, v):
        assert k.shape == v.shape and k.shape[0] == self.h and k.shape[2] == self.d
        have = self.k[sequence].shape[1] if sequence in self.k else 0
        others = sum(self._pages(t.shape[1]) for s, t in self.k.items() if s != sequence)
        if others + self._pages(have + k.shape[1]) > self.n:
            raise MemoryError
        if sequence in self.k:
            self.k[sequence] = torch.cat((self.k[sequence], k), 1)
            self.v[sequence] = torch.cat((self.v[sequence], v), 1)
        else:
            self.k[sequence], self.v[sequence] = k.clone(), v.clone()

    def gather(self, sequence):
        return self.k[sequence], self.v[sequence]

    def free(self, sequence):
        del self.k[sequence], self.v[sequence]
