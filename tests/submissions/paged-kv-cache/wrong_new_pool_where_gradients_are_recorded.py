# expect: rejected
# problem: paged-kv-cache
# mistake: the pool is copied with each append that records gradients
import torch


class PagedKVCache:
    def __init__(self, num_pages, page_size, num_heads, head_dim):
        self.page_size = page_size
        self.shape = (num_heads, head_dim)
        self.k_pool = torch.zeros(num_pages * page_size, num_heads, head_dim)
        self.v_pool = torch.zeros(num_pages * page_size, num_heads, head_dim)
        self.free_pages = list(range(num_pages - 1, -1, -1))
        self.tables = {}
        self.lengths = {}

    def _slots(self, table, start, stop):
        size = self.page_size
        return torch.tensor([table[t // size] * size + t % size for t in range(start, stop)])

    @staticmethod
    def _write(pool, slots, values):
        if torch.is_grad_enabled() and (values.requires_grad or pool.requires_grad):
            return pool.index_copy(0, slots, values)  # earlier gathers may still go backward
        return pool.index_copy_(0, slots, values)

    def append(self, sequence, k, v):
        heads, dim = self.shape
        if k.dim() != 3 or k.shape != v.shape or k.shape[0] != heads or k.shape[2] != dim:
            raise ValueError("keys or values of another shape")
        start = self.lengths.get(sequence, 0)
        stop = start + k.shape[1]
        table = self.tables.get(sequence, [])
        needed = -(-stop // self.page_size) - len(table)
        if needed > len(self.free_pages):
            raise RuntimeError("no page is free")
        table = table + [self.free_pages.pop() for _ in range(needed)]
        slots = self._slots(table, start, stop)
        self.k_pool = self._write(self.k_pool, slots, k.transpose(0, 1))
        self.v_pool = self._write(self.v_pool, slots, v.transpose(0, 1))
        self.tables[sequence] = table
        self.lengths[sequence] = stop

    def gather(self, sequence):
        slots = self._slots(self.tables[sequence], 0, self.lengths[sequence])
        return self.k_pool[slots].transpose(0, 1), self.v_pool[slots].transpose(0, 1)

    def free(self, sequence):
        self.free_pages.extend(self.tables.pop(sequence))
        del self.lengths[sequence]
