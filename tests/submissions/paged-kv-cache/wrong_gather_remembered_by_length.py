# expect: rejected
# problem: paged-kv-cache
# mistake: the last gathered tensors are returned again while they are alive and the sequence has the same name and length, though it may have been freed and begun anew
import weakref

import torch


class PagedKVCache:
    def __init__(self, num_pages, page_size, num_heads, head_dim):
        self.P, self.H, self.D = page_size, num_heads, head_dim
        self.k = torch.zeros(num_heads, num_pages * page_size, head_dim)
        self.v = torch.zeros(num_heads, num_pages * page_size, head_dim)
        self.unused = list(range(num_pages - 1, -1, -1))
        self.pages = {}
        self.length = {}
        self.last = None  # what gather returned last, as long as the caller keeps it

    def name(self, sequence):
        return sequence

    def slots(self, name, start, stop):
        t = torch.arange(start, stop)
        return torch.tensor(self.pages[name])[t // self.P] * self.P + t % self.P

    @torch.no_grad()
    def append(self, sequence, k, v):
        if k.ndim != 3 or k.shape != v.shape or k.shape[0] != self.H or k.shape[2] != self.D:
            raise ValueError("k and v must be (H, tokens, D)")
        name = self.name(sequence)
        T = self.length.get(name, 0)
        stop = T + k.shape[1]
        more = -(-stop // self.P) - len(self.pages.get(name, []))
        if more > len(self.unused):
            raise RuntimeError("not enough free pages")
        self.pages.setdefault(name, []).extend(self.unused.pop() for _ in range(more))
        self.length[name] = stop
        slots = self.slots(name, T, stop)
        self.k[:, slots] = k
        self.v[:, slots] = v

    def gather(self, sequence):
        name = self.name(sequence)
        if name not in self.pages:
            raise KeyError(sequence)
        if self.last is not None and self.last[:2] == (name, self.length[name]):
            k, v = self.last[2](), self.last[3]()
            if k is not None and v is not None:
                return k, v  # nothing was appended since
        slots = self.slots(name, 0, self.length[name])
        k, v = self.k[:, slots], self.v[:, slots]
        self.last = (name, self.length[name], weakref.ref(k), weakref.ref(v))
        return k, v

    def free(self, sequence):
        name = self.name(sequence)
        self.unused.extend(self.pages.pop(name))
        del self.length[name]
