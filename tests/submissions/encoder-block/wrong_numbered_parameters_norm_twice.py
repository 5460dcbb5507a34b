# expect: rejected
# problem: encoder-block
# mistake: the first norm serves twice, behind names that say nothing
# diagnosis: shared-norm
import torch
from torch import nn

P = nn.Parameter


class Norm(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.p1 = P(torch.ones(n))
        self.p2 = P(torch.zeros(n))

    def forward(self, t):
        m = t.mean(-1, keepdim=True)
        s = ((t - m) ** 2).mean(-1, keepdim=True)
        return (t - m) / (s + 1e-5) ** 0.5 * self.p1 + self.p2


class EncoderBlock(nn.Module):
    def __init__(self, e, h, f):
        super().__init__()
        if e % h:
            raise ValueError("h has to divide e")
        self.n = h
        self.z1, self.z2 = nn.Linear(e, e), nn.Linear(e, e)
        self.z3, self.z4 = nn.Linear(e, e), nn.Linear(e, e)
        self.y1 = Norm(e)
        self.z5, self.z6 = nn.Linear(e, f), nn.Linear(f, e)
        self.y2 = Norm(e)

    def forward(self, x, mask=None):
        b, n, e = x.shape
        q, k, v = (
            z(x).view(b, n, self.n, e // self.n).transpose(1, 2)
            for z in (self.z1, self.z2, self.z3)
        )
        s = q @ k.transpose(2, 3) / (e // self.n) ** 0.5
        if mask is not None:
            s = s.masked_fill(mask == 0, -1e30)
        a = (s.softmax(-1) @ v).transpose(1, 2).reshape(b, n, e)
        x = self.y1(x + self.z4(a))
        return self.y1(x + self.z6(torch.relu(self.z5(x))))
