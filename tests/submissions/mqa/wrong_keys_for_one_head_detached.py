# expect: rejected
# problem: mqa
# mistake: no gradient reaches the shared key map
# diagnosis: keys-detached
import torch
from torch import nn


class MQA(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        assert dim % heads == 0
        self.h, self.d = heads, dim // heads
        self.q = nn.Linear(dim, dim)
        self.k = nn.Linear(dim, self.d)
        self.v = nn.Linear(dim, self.d)
        self.o = nn.Linear(dim, dim)

    def forward(self, x, mask=None):
        q = self.q(x).unflatten(-1, (self.h, self.d)).transpose(1, 2)
        with torch.no_grad():
            k = self.k(x).unsqueeze(1)
        s = q @ k.mT * self.d**-0.5
        if mask is not None:
            s = s.masked_fill(mask == 0, -torch.inf)
        return self.o((s.softmax(-1) @ self.v(x).unsqueeze(1)).transpose(1, 2).flatten(2))
