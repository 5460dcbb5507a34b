'''
title = "Keys of one head are written to all heads"
killed_by = "bad-shapes"
explanation = """
Assigning to a slice broadcasts: a tensor with one head, or of head size 1, fills all of them. \
The shapes have to be compared first."""
hint = "Append a tensor of shape (1, 2, D) to a cache of three heads."
'''

import torch


class PagedKVCache:
    def __init__(self, num_pages, page_size, num_heads, head_dim):
        if min(num_pages, page_size, num_heads, head_dim) < 1:
            raise ValueError("every size must be 1 or more")
        self.page_size = page_size
        self.k = torch.zeros(num_heads, num_pages, page_size, head_dim)
        self.v = torch.zeros(num_heads, num_pages, page_size, head_dim)
        self.unused = list(range(num_pages))
        self.pages = {}
        self.lengths = {}

    def append(self, sequence, k, v):
        tokens = k.shape[1]
        wanted = (self.k.shape[0], tokens, self.k.shape[3])
        length = self.lengths.get(sequence, 0)
        pages = self.pages.get(sequence, [])
        missing = -(-(length + tokens) // self.page_size) - len(pages)
        if missing > len(self.unused):
            raise MemoryError(f"{missing} pages are needed, {len(self.unused)} are free")
        pages = pages + [self.unused.pop() for _ in range(missing)]
        positions = torch.arange(length, length + tokens)
        page = torch.tensor(pages)[positions // self.page_size]
        slot = positions % self.page_size
        self.k[:, page, slot] = k
        self.v[:, page, slot] = v
        self.pages[sequence] = pages
        self.lengths[sequence] = length + tokens

    def gather(self, sequence):
        pages = self.pages[sequence]
        length = self.lengths[sequence]
        k = self.k[:, pages].flatten(1, 2)
        v = self.v[:, pages].flatten(1, 2)
        return (k[:, :length], v[:, :length])

    def free(self, sequence):
        pages = self.pages.pop(sequence)
        self.unused.extend(pages)
        del self.lengths[sequence]
