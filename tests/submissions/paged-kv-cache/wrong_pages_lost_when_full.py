# expect: rejected
# problem: paged-kv-cache
# mistake: positions are written one by one until no page is left: a failed append leaves half
import torch


class PagedKVCache:
    def __init__(self, num_pages, page_size, num_heads, head_dim):
        self.P = page_size
        self.pool = torch.zeros(2, num_pages, num_heads, page_size, head_dim)
        self.free_list = list(range(num_pages))
        self.seqs = {}

    def append(self, sequence, k, v):
        if k.shape != v.shape or k.shape[::2] != self.pool.shape[2::2]:
            raise ValueError
        seq = self.seqs.setdefault(sequence, {"pages": [], "len": 0})
        for t in range(k.shape[1]):
            page, slot = divmod(seq["len"], self.P)
            if page == len(seq["pages"]):
                seq["pages"].append(self.free_list.pop())
            self.pool[0, seq["pages"][page], :, slot] = k[:, t]
            self.pool[1, seq["pages"][page], :, slot] = v[:, t]
            seq["len"] += 1

    def gather(self, sequence):
        seq = self.seqs[sequence]
        out = self.pool[:, seq["pages"]].transpose(1, 2).flatten(2, 3)[:, :, : seq["len"]]
        return out[0], out[1]

    def free(self, sequence):
        self.free_list += self.seqs.pop(sequence)["pages"]
