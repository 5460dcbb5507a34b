# expect: rejected
# problem: masked-mha
# mistake: heads are cut first, and each goes through the same D by D maps
# diagnosis: maps-shared-by-heads
import torch
from torch import nn


class MultiHeadAttention(nn.Module):
    def __init__(self, embed_size, heads):
        super().__init__()
        assert embed_size % heads == 0
        self.heads, self.size = heads, embed_size // heads
        self.for_queries = nn.Linear(self.size, self.size, bias=False)
        self.for_keys = nn.Linear(self.size, self.size, bias=False)
        self.for_values = nn.Linear(self.size, self.size, bias=False)
        self.last = nn.Linear(embed_size, embed_size)

    def forward(self, query, keys, values, mask=None):
        n, l, s = query.shape[0], query.shape[1], keys.shape[1]
        q = self.for_queries(query.view(n, l, self.heads, self.size))
        k = self.for_keys(keys.view(n, s, self.heads, self.size))
        v = self.for_values(values.view(n, s, self.heads, self.size))
        energy = torch.einsum("nlhd,nshd->nhls", q, k)
        if mask is not None:
            energy = energy.masked_fill(mask == 0, -1e20)
        weights = (energy / self.size**0.5).softmax(-1)
        return self.last(torch.einsum("nhls,nshd->nlhd", weights, v).reshape(n, l, -1))
