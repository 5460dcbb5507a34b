import torch


class PagedKVCache:
    def __init__(self, num_pages, page_size, num_heads, head_dim):
        if min(num_pages, page_size, num_heads, head_dim) < 1:
            raise ValueError("every size must be 1 or more")
        self.page_size = page_size
        self.k = torch.zeros(num_heads, num_pages, page_size, head_dim).half()
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
        self.k[:, page, slot] = k.half()
        self.v[:, page, slot] = v
        self.pages[sequence] = pages
        self.lengths[sequence] = length + tokens

    def gather(self, sequence):
        pages = self.pages[sequence]
        length = self.lengths[sequence]
        k = self.k[:, pages].flatten(1, 2).float()
        v = self.v[:, pages].flatten(1, 2)
        return (k[:, :length], v[:, :length])

    def free(self, sequence):
        pages = self.pages.pop(sequence)
        self.unused.extend(pages)
        del self.lengths[sequence]
