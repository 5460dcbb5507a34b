# problem: gqa
# right: a non-persistent integer buffer says which key/value head each query head uses, index_select picks them
import numpy as np
import torch
from torch import nn


class GroupQueryAttention(nn.Module):
    def __init__(self, d_model, num_heads, num_kv_heads):
        super().__init__()
        assert d_model % num_heads == 0, "d_model must be divisible by num_heads"
        assert num_heads % num_kv_heads == 0, "num_heads must be divisible by num_kv_heads"
        head_size = d_model // num_heads
        self.n_heads, self.n_kv, self.size = num_heads, num_kv_heads, head_size
        owner = torch.from_numpy(np.arange(num_heads) // (num_heads // num_kv_heads))
        self.register_buffer("owner", owner.long(), persistent=False)
        self.W_q = nn.Linear(d_model, d_model)
        self.W_k = nn.Linear(d_model, num_kv_heads * head_size)
        self.W_v = nn.Linear(d_model, num_kv_heads * head_size)
        self.W_o = nn.Linear(d_model, d_model)

    def forward(self, x, mask=None):
        batch, length, width = x.shape
        q = self.W_q(x).reshape(batch, length, self.n_heads, self.size).movedim(2, 1)
        k = self.W_k(x).reshape(batch, length, self.n_kv, self.size).movedim(2, 1)
        v = self.W_v(x).reshape(batch, length, self.n_kv, self.size).movedim(2, 1)
        k, v = k.index_select(1, self.owner), v.index_select(1, self.owner)
        score = torch.matmul(q, k.mT) / float(np.sqrt(self.size))
        if mask is not None:
            score = torch.where(mask == 0, torch.finfo(score.dtype).min, score)
        mixed = torch.matmul(torch.softmax(score, -1), v)
        return self.W_o(mixed.movedim(1, 2).reshape(batch, length, width))
