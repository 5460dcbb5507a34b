# expect: rejected
# problem: mhsa
# mistake: divides by the square root of the model width
# diagnosis: scale-by-sqrt-embed-dim
import torch
from torch import nn


class SelfAttention(nn.Module):
    def __init__(self, embed_size, heads):
        super().__init__()
        self.embed_size = embed_size
        self.heads = heads
        self.head_dim = embed_size // heads
        assert self.head_dim * heads == embed_size, "Embedding size needs to be divisible by heads"
        self.values = nn.Linear(embed_size, embed_size)
        self.keys = nn.Linear(embed_size, embed_size)
        self.queries = nn.Linear(embed_size, embed_size)
        self.fc_out = nn.Linear(embed_size, embed_size)

    def forward(self, x, mask=None):
        n, length, _ = x.shape
        values = self.values(x).reshape(n, length, self.heads, self.head_dim)
        keys = self.keys(x).reshape(n, length, self.heads, self.head_dim)
        queries = self.queries(x).reshape(n, length, self.heads, self.head_dim)
        energy = torch.einsum("nqhd,nkhd->nhqk", [queries, keys])
        if mask is not None:
            energy = energy.masked_fill(mask == 0, float("-1e20"))
        attention = torch.softmax(energy / (self.embed_size ** (1 / 2)), dim=3)
        out = torch.einsum("nhql,nlhd->nqhd", [attention, values])
        return self.fc_out(out.reshape(n, length, self.embed_size))
