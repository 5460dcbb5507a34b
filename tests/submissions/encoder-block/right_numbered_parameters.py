# expect: accepted
# problem: encoder-block
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
    """Weights in the order of use, with numbers for names."""

    def __init__(self, e, h, f):
        super().__init__()
        if e % h:
            raise ValueError("h has to divide e")
        self.n = h
        self.x1, self.x2 = P(torch.randn(e, e) / e**0.5), P(torch.randn(e) / e)
        self.x3, self.x4 = P(torch.randn(e, e) / e**0.5), P(torch.randn(e) / e)
        self.x5, self.x6 = P(torch.randn(e, e) / e**0.5), P(torch.randn(e) / e)
        self.x7, self.x8 = P(torch.randn(e, e) / e**0.5), P(torch.randn(e) / e)
        self.y1 = Norm(e)
        self.x9, self.x10 = P(torch.randn(e, f) / e**0.5), P(torch.randn(f) / f)
        self.x11, self.x12 = P(torch.randn(f, e) / f**0.5), P(torch.randn(e) / e)
        self.y2 = Norm(e)

    def forward(self, x, mask=None):
        b, n, e = x.shape

        def cut(t):
            return t.view(b, n, self.n, e // self.n).transpose(1, 2)

        q, k, v = cut(x @ self.x1 + self.x2), cut(x @ self.x3 + self.x4), cut(x @ self.x5 + self.x6)
        s = q @ k.transpose(2, 3) / (e // self.n) ** 0.5
        if mask is not None:
            s = s.masked_fill(mask == 0, -1e30)
        a = (s.softmax(-1) @ v).transpose(1, 2).reshape(b, n, e)
        x = self.y1(x + a @ self.x7 + self.x8)
        return self.y2(x + torch.relu(x @ self.x9 + self.x10) @ self.x11 + self.x12)
