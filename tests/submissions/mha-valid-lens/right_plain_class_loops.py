# expect: accepted
# problem: mha-valid-lens
import torch
from torch.nn import Linear


def transpose_qkv(X, num_heads):
    B, L, E = X.shape
    if E % num_heads:
        raise ValueError("heads do not divide the width")
    D = E // num_heads
    rows = []
    for b in range(B):
        for h in range(num_heads):
            rows.append(X[b, :, h * D : (h + 1) * D])
    return torch.stack(rows)


def transpose_output(X, num_heads):
    if len(X) % num_heads:
        raise ValueError("heads do not divide the batch")
    items = []
    for start in range(0, len(X), num_heads):
        items.append(torch.cat(list(X[start : start + num_heads]), dim=-1))
    return torch.stack(items)


def masked_softmax(X, valid_lens):
    if valid_lens is None:
        return torch.softmax(X, dim=2)
    N, L, S = X.shape
    out = torch.zeros_like(X)
    for n in range(N):
        for i in range(L):
            length = int(valid_lens[n] if valid_lens.dim() == 1 else valid_lens[n, i])
            out[n, i, :length] = torch.softmax(X[n, i, :length], dim=0)
    return out


class MultiHeadAttention:
    """No nn.Module: one head after the other, one item after the other."""

    def __init__(self, key_size, query_size, value_size, num_hiddens, num_heads, dropout, bias=False):
        if num_hiddens % num_heads != 0:
            raise ValueError("num_hiddens % num_heads != 0")
        self.heads = num_heads
        self.p = dropout
        self.training = False
        self.Wq = Linear(query_size, num_hiddens, bias=bias)
        self.Wk = Linear(key_size, num_hiddens, bias=bias)
        self.Wv = Linear(value_size, num_hiddens, bias=bias)
        self.Wo = Linear(num_hiddens, num_hiddens, bias=bias)

    def train(self, mode=True):
        self.training = mode

    def eval(self):
        self.training = False

    def __call__(self, queries, keys, values, valid_lens):
        q, k, v = self.Wq(queries), self.Wk(keys), self.Wv(values)
        done = []
        for part_q, part_k, part_v in zip(
            q.chunk(self.heads, -1), k.chunk(self.heads, -1), v.chunk(self.heads, -1), strict=True
        ):
            scores = part_q @ part_k.transpose(1, 2) / part_q.shape[-1] ** 0.5
            if valid_lens is not None:
                reach = torch.arange(k.shape[1]).view(1, 1, -1)
                last = valid_lens.view(valid_lens.shape[0], -1, 1)
                scores = scores.masked_fill(reach >= last, float("-inf"))
            weights = scores.softmax(-1)
            weights = torch.nn.functional.dropout(weights, self.p, self.training)
            done.append(weights @ part_v)
        return self.Wo(torch.cat(done, -1))
