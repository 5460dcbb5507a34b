# problem: gqa
# wrong: a copied layer gives the same answer as one of its own; here lambdas made in the constructor keep pointing to the maps of the original after deepcopy
import torch
import torch.nn as nn


class GroupQueryAttention(nn.Module):
    def __init__(self, d_model, num_heads, num_kv_heads):
        super().__init__()
        assert d_model % num_heads == 0
        assert num_heads % num_kv_heads == 0
        d = d_model // num_heads
        r = num_heads // num_kv_heads
        self.scale = d**-0.5
        self.W_q = nn.Linear(d_model, d_model)
        self.W_k = nn.Linear(d_model, num_kv_heads * d)
        self.W_v = nn.Linear(d_model, num_kv_heads * d)
        self.W_o = nn.Linear(d_model, d_model)

        def split(t, n):
            return t.reshape(t.shape[0], t.shape[1], n, d).transpose(1, 2)

        self.to_q = lambda x: split(self.W_q(x), num_heads)
        self.to_k = lambda x: split(self.W_k(x), num_kv_heads).repeat_interleave(r, dim=1)
        self.to_v = lambda x: split(self.W_v(x), num_kv_heads).repeat_interleave(r, dim=1)

    def forward(self, x, mask=None):
        s = self.to_q(x) @ self.to_k(x).transpose(-2, -1) * self.scale
        if mask is not None:
            s = s.masked_fill(mask == 0, -1e9)
        o = s.softmax(dim=-1) @ self.to_v(x)
        return self.W_o(o.transpose(1, 2).flatten(2))
