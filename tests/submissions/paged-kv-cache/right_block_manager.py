# expect: accepted
# problem: paged-kv-cache
from collections import deque
from dataclasses import dataclass, field
import torch
@dataclass
class Sequence:
    block_table: list = field(default_factory=list)
    num_tokens: int = 0
class BlockAllocator:
    def __init__(self, n):
        self.free_blocks = deque(range(n))
    def get_num_free_blocks(self): return len(self.free_blocks)
    def allocate(self): return self.free_blocks.popleft()
    def free(self, b): self.free_blocks.append(b)
class PagedKVCache(torch.nn.Module):
    def __init__(self, num_pages: int, page_size: int, num_heads: int, head_dim: int, dtype=torch.float32):
        super().__init__()
        self.block_size = page_size
        self.kv_cache = torch.empty(2, num_pages, page_size, num_heads, head_dim, dtype=dtype)
        self.allocator = BlockAllocator(num_pages)
        self.seqs = {}
    def append(self, sequence, k, v):
        _, n_slots, bs, h, d = self.kv_cache.shape
        if tuple(k.shape) != (h, k.shape[1], d) or k.shape != v.shape: raise ValueError("bad kv")
        seq = self.seqs.get(sequence) or Sequence()
        n = k.shape[1]
        needed = (seq.num_tokens + n + bs - 1) // bs - len(seq.block_table)
        if needed > self.allocator.get_num_free_blocks(): raise RuntimeError("out of blocks")
        seq.block_table.extend(self.allocator.allocate() for _ in range(needed))
        pos = torch.arange(seq.num_tokens, seq.num_tokens + n)
        table = torch.tensor(seq.block_table)
        slots = table[pos // bs] * bs + pos % bs
        flat = self.kv_cache.view(2, -1, h, d)
        flat[0].index_copy_(0, slots, k.transpose(0, 1))
        flat[1].index_copy_(0, slots, v.transpose(0, 1))
        seq.num_tokens += n
        self.seqs[sequence] = seq
    def gather(self, sequence):
        if sequence not in self.seqs: raise KeyError(sequence)
        seq = self.seqs[sequence]
        kv = self.kv_cache[:, seq.block_table].flatten(1, 2)[:, :seq.num_tokens]
        return tuple(kv.transpose(1, 2).contiguous())
    def free(self, sequence):
        for b in self.seqs.pop(sequence).block_table: self.allocator.free(b)
