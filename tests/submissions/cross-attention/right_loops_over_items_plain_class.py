# expect: accepted
# problem: cross-attention
import torch
from torch.nn import Linear


class CrossAttn:
    """Jedes Element für sich; Auffüllung wird vorher herausgenommen."""

    def __init__(self, E, H, Ec):
        if E % H != 0:
            raise ValueError("E muss durch H teilbar sein")
        self.H = H
        self.q, self.k, self.v, self.o = Linear(E, E), Linear(Ec, E), Linear(Ec, E), Linear(E, E)

    def one(self, x, c):
        q, k, v = self.q(x), self.k(c), self.v(c)
        outs = []
        for qh, kh, vh in zip(q.chunk(self.H, -1), k.chunk(self.H, -1), v.chunk(self.H, -1)):
            s = qh @ kh.T / qh.shape[-1] ** 0.5
            w = (s - torch.logsumexp(s, -1, keepdim=True)).exp()
            outs.append(w @ vh)
        return self.o(torch.cat(outs, -1))

    def forward(self, x, c, mask=None):
        if len(x) != len(c):
            raise ValueError("Batchgrößen")
        if mask is None:
            return torch.stack([self.one(a, b) for a, b in zip(x, c)])
        if mask.shape != c.shape[:2]:
            raise ValueError("Maske")
        return torch.stack([self.one(a, b[n.bool()]) for a, b, n in zip(x, c, mask)])
