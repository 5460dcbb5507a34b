# expect: accepted
# problem: paged-kv-cache
"""An nn.Module with one buffer for keys and values, and flat slots."""

from collections import deque

import torch
from torch import nn


class Sequence:
    def __init__(self):
        self.blocks = []
        self.num_tokens = 0


class PagedKVCache(nn.Module):
    def __init__(self, num_pages, page_size, num_heads, head_dim, dtype=torch.float32):
        super().__init__()
        self.page_size = page_size
        self.register_buffer(
            "pool", torch.zeros(2, num_heads, num_pages * page_size, head_dim, dtype=dtype)
        )
        self.free_blocks = deque(range(num_pages))
        self.sequences = {}

    def _slots(self, blocks, start, stop):
        index = torch.arange(start, stop)
        table = torch.as_tensor(blocks, dtype=torch.long)
        return table[index // self.page_size] * self.page_size + index % self.page_size

    @torch.no_grad()
    def append(self, seq_id, key, value):
        _, heads, _, dim = self.pool.shape
        assert key.shape == value.shape, "keys and values differ"
        assert key.shape[0] == heads and key.shape[-1] == dim, "wrong shape"
        seq = self.sequences.get(seq_id) or Sequence()
        total = seq.num_tokens + key.shape[1]
        need = max(0, (total + self.page_size - 1) // self.page_size - len(seq.blocks))
        if need > len(self.free_blocks):
            raise MemoryError("out of pages")
        for _ in range(need):
            seq.blocks.append(self.free_blocks.popleft())
        slots = self._slots(seq.blocks, seq.num_tokens, total)
        self.pool[0].index_copy_(1, slots, key.contiguous())
        self.pool[1].index_copy_(1, slots, value.contiguous())
        seq.num_tokens = total
        self.sequences[seq_id] = seq

    def gather(self, seq_id):
        seq = self.sequences[seq_id]
        slots = self._slots(seq.blocks, 0, seq.num_tokens)
        return self.pool[0][:, slots], self.pool[1][:, slots]

    def free(self, seq_id):
        seq = self.sequences.pop(seq_id)
        self.free_blocks.extend(seq.blocks)
