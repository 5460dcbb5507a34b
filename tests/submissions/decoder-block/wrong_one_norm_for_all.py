# expect: rejected
# problem: decoder-block
# mistake: the first norm three times
# diagnosis: shared-norm
import math

import torch
from torch import nn


def layer_norm(x, g, b):
    m = x.mean(-1, keepdim=True)
    v = x.var(-1, keepdim=True, unbiased=False)
    return g * (x - m) / (v + 1e-6).sqrt() + b


class DecoderBlock(nn.Module):
    def __init__(self, d, h, f):
        super().__init__()
        assert d % h == 0, "h must divide d"
        self.h = h
        for i in (1, 2):
            for name in ("q", "k", "v", "o"):
                setattr(self, f"W{name}{i}", nn.Parameter(torch.empty(d, d).normal_(std=d**-0.5)))
                setattr(self, f"b{name}{i}", nn.Parameter(torch.zeros(d)))
        self.W1 = nn.Parameter(torch.empty(d, f).normal_(std=d**-0.5))
        self.b1 = nn.Parameter(torch.zeros(f))
        self.W2 = nn.Parameter(torch.empty(f, d).normal_(std=f**-0.5))
        self.b2 = nn.Parameter(torch.zeros(d))
        for i in (1, 2, 3):
            setattr(self, f"g{i}", nn.Parameter(torch.ones(d)))
            setattr(self, f"beta{i}", nn.Parameter(torch.zeros(d)))

    def attention(self, i, a, b, open_):
        Q = a @ getattr(self, f"Wq{i}") + getattr(self, f"bq{i}")
        K = b @ getattr(self, f"Wk{i}") + getattr(self, f"bk{i}")
        V = b @ getattr(self, f"Wv{i}") + getattr(self, f"bv{i}")
        Q, K, V = (torch.stack(t.chunk(self.h, -1), 1) for t in (Q, K, V))
        S = Q @ K.mT / math.sqrt(Q.shape[-1])
        if open_ is not None:
            S = S.masked_fill(open_ == 0, -math.inf)
        O = torch.cat((torch.softmax(S, -1) @ V).unbind(1), -1)
        return O @ getattr(self, f"Wo{i}") + getattr(self, f"bo{i}")

    def forward(self, x, m, mask=None):
        x = layer_norm(x + self.attention(1, x, x, x.new_ones(x.shape[1], x.shape[1]).tril()), self.g1, self.beta1)
        x = layer_norm(x + self.attention(2, x, m, mask), self.g1, self.beta1)
        x = layer_norm(x + torch.relu(x @ self.W1 + self.b1) @ self.W2 + self.b2, self.g1, self.beta1)
        return x
