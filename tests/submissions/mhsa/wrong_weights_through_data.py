# expect: rejected
# problem: mhsa
# mistake: the weights leave the graph by .data
# diagnosis: weights-detached
import torch
from torch import nn


class MHSA(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        assert dim % heads == 0
        self.heads = heads
        self.qkv = nn.Linear(dim, 3 * dim)
        self.out = nn.Linear(dim, dim)

    def forward(self, x, mask=None):
        q, k, v = self.qkv(x).unflatten(-1, (3, self.heads, -1)).permute(2, 0, 3, 1, 4)
        s = q @ k.mT * q.shape[-1] ** -0.5
        if mask is not None:
            s = s.masked_fill(mask == 0, -torch.inf)
        w = s.softmax(-1)
        return self.out((w.data @ v).transpose(1, 2).flatten(2)), w
