# expect: rejected
# problem: paged-kv-cache
# mistake: the counter of free pages goes up, but pages are handed out by a number that only grows
import torch


class PagedKVCache:
    def __init__(self, num_pages, page_size, num_heads, head_dim):
        self.P, self.N = page_size, num_pages
        self.k = torch.zeros(num_pages, num_heads, page_size, head_dim)
        self.v = torch.zeros_like(self.k)
        self.next = 0
        self.seqs = {}

    def append(self, sequence, k, v):
        if k.shape != v.shape or k.shape[0] != self.k.shape[1] or k.shape[2] != self.k.shape[3]:
            raise ValueError
        pages, length = self.seqs.get(sequence, ([], 0))
        need = -(-(length + k.shape[1]) // self.P) - len(pages)
        if self.next + need > self.N:
            raise MemoryError
        pages = pages + list(range(self.next, self.next + need))
        self.next += need
        for t in range(k.shape[1]):
            page, slot = divmod(length + t, self.P)
            self.k[pages[page], :, slot] = k[:, t]
            self.v[pages[page], :, slot] = v[:, t]
        self.seqs[sequence] = pages, length + k.shape[1]

    def gather(self, sequence):
        pages, length = self.seqs[sequence]
        return (
            self.k[pages].transpose(0, 1).flatten(1, 2)[:, :length],
            self.v[pages].transpose(0, 1).flatten(1, 2)[:, :length],
        )

    def free(self, sequence):
        del self.seqs[sequence]
