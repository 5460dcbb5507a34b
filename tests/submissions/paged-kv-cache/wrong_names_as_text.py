# expect: rejected
# problem: paged-kv-cache
# mistake: 7 and "7" are one name
import torch
class PagedKVCache:
    def __init__(self, num_pages, page_size, num_heads, head_dim):
        self.N, self.P, self.H, self.D = num_pages, page_size, num_heads, head_dim
        self.k = torch.zeros(num_pages, page_size, num_heads, head_dim)
        self.v = torch.zeros(num_pages, page_size, num_heads, head_dim)
        self.free_pages = list(range(num_pages))
        self.table, self.length = {}, {}
    def check(self, k, v):
        if k.shape != v.shape or k.dim() != 3 or k.shape[0] != self.H or k.shape[2] != self.D: raise ValueError
    def key(self, s): return str(s)
    def need(self, s, n):
        T = self.length.get(s, 0)
        return -(-(T + n) // self.P) - len(self.table.get(s, []))
    def append(self, sequence, k, v):
        self.check(k, v)
        s = self.key(sequence)
        n = k.shape[1]
        need = self.need(s, n)
        if need > len(self.free_pages): raise MemoryError
        if s not in self.table: self.table[s] = []; self.length[s] = 0
        for _ in range(need): self.table[s].append(self.free_pages.pop(0))
        self.write(s, k, v)
    def write(self, s, k, v):
        T = self.length[s]
        for i in range(k.shape[1]):
            p = self.table[s][(T + i) // self.P]; o = (T + i) % self.P
            self.k[p, o] = k[:, i]; self.v[p, o] = v[:, i]
        self.length[s] = T + k.shape[1]
    def gather(self, sequence):
        s = self.key(sequence)
        pages = torch.tensor(self.table[s]); T = self.length[s]
        k = self.k[pages].flatten(0, 1)[:T].transpose(0, 1); v = self.v[pages].flatten(0, 1)[:T].transpose(0, 1)
        return k, v
    def free(self, sequence):
        s = self.key(sequence)
        self.free_pages += self.table.pop(s); del self.length[s]
