# expect: rejected
# problem: mqa
# mistake: blocked scores are set to -30
# diagnosis: fill-too-small
import torch
from torch import nn


class MQA(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        assert dim % heads == 0
        self.h, self.d = heads, dim // heads
        self.q, self.kv, self.o = nn.Linear(dim, dim), nn.Linear(dim, 2 * self.d), nn.Linear(dim, dim)

    def forward(self, x, mask=None):
        q = self.q(x).unflatten(-1, (self.h, self.d)).transpose(1, 2)
        k, v = self.kv(x).unsqueeze(1).chunk(2, -1)
        s = q @ k.mT * self.d**-0.5
        if mask is not None:
            s = s.masked_fill(mask == 0, -30)
        return self.o((s.softmax(-1) @ v).transpose(1, 2).flatten(2))
