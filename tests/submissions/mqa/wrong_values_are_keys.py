# expect: rejected
# problem: mqa
# mistake: the key map is used for the values too
# diagnosis: values-use-key-map
import torch
from torch import nn


class MultiQueryAttention(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        if dim % heads:
            raise ValueError
        self.heads = heads
        self.q_lin = nn.Linear(dim, dim)
        self.k_lin = nn.Linear(dim, dim // heads)
        self.v_lin = nn.Linear(dim, dim // heads)
        self.out_lin = nn.Linear(dim, dim)

    def forward(self, x, mask=None):
        q = torch.stack(self.q_lin(x).chunk(self.heads, -1), 1)
        k = v = self.k_lin(x)[:, None]
        s = q @ k.mT / q.shape[-1] ** 0.5
        if mask is not None:
            s = torch.where(mask == 0, -torch.inf, s)
        return self.out_lin(torch.cat((s.softmax(-1) @ v).unbind(1), -1))
