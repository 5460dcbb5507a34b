# expect: rejected
# problem: talking-heads
# mistake: only the logits are mixed
# diagnosis: no-weights-map
import torch
from torch import nn


class TalkingHeads(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        assert dim % heads == 0
        self.heads = heads
        self.q, self.k, self.v, self.o = (nn.Linear(dim, dim) for _ in range(4))
        self.pre_softmax = nn.Linear(heads, heads, bias=False)
        self.post_softmax = nn.Linear(heads, heads, bias=False)

    def forward(self, x, mask=None):
        q, k, v = (m(x).unflatten(-1, (self.heads, -1)).transpose(1, 2) for m in (self.q, self.k, self.v))
        s = q @ k.mT / q.shape[-1] ** 0.5
        s = self.pre_softmax(s.permute(0, 2, 3, 1)).permute(0, 3, 1, 2)
        if mask is not None:
            s = s.masked_fill(mask == 0, -torch.inf)
        return self.o((s.softmax(-1) @ v).transpose(1, 2).flatten(2))
