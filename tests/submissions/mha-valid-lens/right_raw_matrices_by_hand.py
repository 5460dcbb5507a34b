# expect: accepted
# problem: mha-valid-lens
import math

import torch
from torch import Tensor, nn


def transpose_qkv(x: Tensor, h: int) -> Tensor:
    assert x.size(-1) % h == 0
    return torch.stack(x.tensor_split(h, dim=-1), dim=1).flatten(0, 1)


def transpose_output(x: Tensor, h: int) -> Tensor:
    assert x.size(0) % h == 0
    return torch.cat([x[i::h] for i in range(h)], dim=-1)


def masked_softmax(scores: Tensor, valid_lens: Tensor | None) -> Tensor:
    if valid_lens is not None:
        lens = valid_lens if valid_lens.ndim == 2 else valid_lens.unsqueeze(1)
        order = torch.arange(scores.size(-1)).expand(*scores.shape)
        hidden = order >= lens.unsqueeze(2)
        scores = scores.masked_fill(hidden, -math.inf)
    e = (scores - scores.amax(-1, keepdim=True)).exp()
    return e / e.sum(-1, keepdim=True)


def matrix(rows: int, columns: int) -> nn.Parameter:
    return nn.Parameter(torch.randn(rows, columns) / math.sqrt(rows))


class MultiHeadAttention(nn.Module):
    def __init__(self, key_size: int, query_size: int, value_size: int, num_hiddens: int,
                 num_heads: int, dropout: float, bias: bool = False) -> None:
        super().__init__()
        self.heads, self.p = num_heads, dropout
        self.w_q, self.w_k = matrix(query_size, num_hiddens), matrix(key_size, num_hiddens)
        self.w_v, self.w_o = matrix(value_size, num_hiddens), matrix(num_hiddens, num_hiddens)
        for name in "qkvo":
            offset = nn.Parameter(torch.zeros(num_hiddens)) if bias else None
            self.register_parameter(f"b_{name}", offset)

    def affine(self, x: Tensor, name: str) -> Tensor:
        y = x @ getattr(self, f"w_{name}")
        offset = getattr(self, f"b_{name}")
        return y if offset is None else y + offset

    def forward(self, queries: Tensor, keys: Tensor, values: Tensor,
                valid_lens: Tensor | None = None) -> Tensor:
        q, k, v = (transpose_qkv(self.affine(x, n), self.heads)
                   for x, n in ((queries, "q"), (keys, "k"), (values, "v")))
        if valid_lens is not None:
            valid_lens = torch.stack([valid_lens] * self.heads, dim=1).flatten(0, 1)
        a = masked_softmax(torch.baddbmm(q.new_zeros(1, 1, 1), q, k.mT, beta=0) / math.sqrt(k.size(-1)),
                           valid_lens)
        if self.training and self.p > 0:
            a = a * torch.empty_like(a).bernoulli_(1 - self.p) / (1 - self.p)
        return self.affine(transpose_output(a @ v, self.heads), "o")
