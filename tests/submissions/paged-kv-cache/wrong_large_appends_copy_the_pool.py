# expect: rejected
# problem: paged-kv-cache
# mistake: an append of more than two pages makes the pool anew
import torch


class PagedCache:
    def __init__(self, num_pages, page_size, num_heads, head_dim):
        self.P, self.H, self.D = page_size, num_heads, head_dim
        self.pool = torch.zeros(num_pages * page_size, 2, num_heads, head_dim)
        self.left = list(range(num_pages))
        self.slots = {}
        self.room = {}

    def append(self, sequence, k, v):
        if k.shape != v.shape or (k.shape[0], k.shape[2]) != (self.H, self.D):
            raise ValueError("shape")
        room = self.room.get(sequence, [])
        need = max(0, -(-(k.shape[1] - len(room)) // self.P))
        if need > len(self.left):
            raise MemoryError
        new, self.left = self.left[:need], self.left[need:]
        room = room + [page * self.P + slot for page in new for slot in range(self.P)]
        taken, self.room[sequence] = room[: k.shape[1]], room[k.shape[1] :]
        both = torch.stack((k, v)).detach().permute(2, 0, 1, 3)  # (tokens, 2, H, D)
        if need > 2:
            self.pool = self.pool.index_copy(0, torch.tensor(taken), both)
        else:
            self.pool[taken] = both
        self.slots[sequence] = self.slots.get(sequence, []) + taken

    def gather(self, sequence):
        k, v = self.pool[self.slots[sequence]].permute(1, 2, 0, 3)
        return k, v

    def free(self, sequence):
        slots = self.slots.pop(sequence) + self.room.pop(sequence)
        self.left += sorted({slot // self.P for slot in slots})
