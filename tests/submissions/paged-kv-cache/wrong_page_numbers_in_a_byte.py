# expect: rejected
# problem: paged-kv-cache
# mistake: the table holds numbers of pages as uint8, so that page 256 is page 0
import torch


class PagedKVCache:
    def __init__(self, num_pages, page_size, num_heads, head_dim):
        self.P, self.H, self.D = page_size, num_heads, head_dim
        self.pool = torch.zeros(2, num_pages, page_size, num_heads, head_dim)
        self.unused = list(range(num_pages))
        self.tables, self.lengths = {}, {}

    def append(self, sequence, k, v):
        if k.shape != v.shape or k.dim() != 3 or (k.shape[0], k.shape[2]) != (self.H, self.D):
            raise ValueError("shape")
        start = self.lengths.get(sequence, 0)
        end = start + k.shape[1]
        table = self.tables.get(sequence, torch.zeros(0, dtype=torch.uint8))
        missing = -(-end // self.P) - len(table)
        if missing > len(self.unused):
            raise MemoryError("full")
        new = torch.tensor(self.unused[:missing], dtype=torch.int64).to(torch.uint8)
        self.unused = self.unused[missing:]
        table = torch.cat((table, new))
        at = torch.arange(start, end)
        pages, slots = table[at // self.P].long(), at % self.P
        self.pool[0, pages, slots] = k.detach().transpose(0, 1)
        self.pool[1, pages, slots] = v.detach().transpose(0, 1)
        self.tables[sequence], self.lengths[sequence] = table, end

    def gather(self, sequence):
        found = self.pool[:, self.tables[sequence].long()].flatten(1, 2)
        k, v = found[:, : self.lengths[sequence]].transpose(1, 2)
        return k, v

    def free(self, sequence):
        self.unused += self.tables.pop(sequence).tolist()
        del self.lengths[sequence]
