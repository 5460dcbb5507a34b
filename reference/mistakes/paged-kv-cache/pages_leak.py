'''
title = "Pages of a freed sequence are not given back"
killed_by = "pages-are-reused"
explanation = """
free forgets the sequence, but its pages stay taken. A server that runs long enough has no page \
left, although nobody uses them."""
hint = "Count the free pages before an append and after the free that follows it."
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
        if k.shape != wanted or v.shape != wanted:
            raise ValueError(f"k and v must be {wanted}, not {tuple(k.shape)}, {tuple(v.shape)}")
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
        del self.lengths[sequence]
