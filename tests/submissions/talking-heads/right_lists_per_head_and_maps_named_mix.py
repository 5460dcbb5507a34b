# expect: accepted
# problem: talking-heads
# Lists of one map per head beside two maps whose names sound like the output's.
import torch
from torch import nn


class TalkingHeadsSelfAttention(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        if d_model % n_heads:
            raise ValueError("heads")
        self.n = n_heads
        self.q = nn.ModuleList(nn.Linear(d_model, d_model // n_heads) for _ in range(n_heads))
        self.k = nn.ModuleList(nn.Linear(d_model, d_model // n_heads) for _ in range(n_heads))
        self.v = nn.ModuleList(nn.Linear(d_model, d_model // n_heads) for _ in range(n_heads))
        self.mix1 = nn.Parameter(torch.eye(n_heads))
        self.mix2 = nn.Parameter(torch.eye(n_heads))
        self.o = nn.Linear(d_model, d_model)

    def forward(self, x, mask=None):
        J = torch.stack([q(x) @ k(x).mT * k.out_features ** -0.5 for q, k in zip(self.q, self.k)], 1)
        M = torch.tensordot(self.mix1, J, dims=([1], [1])).transpose(0, 1)
        if mask is not None:
            M = M.masked_fill((mask == 0), -1e9)
        W = torch.tensordot(self.mix2, M.softmax(-1), dims=([1], [1])).transpose(0, 1)
        return self.o(torch.cat([W[:, i] @ v(x) for i, v in enumerate(self.v)], -1)), W
