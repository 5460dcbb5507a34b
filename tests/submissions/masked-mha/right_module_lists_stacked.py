# expect: accepted
# problem: masked-mha
import torch
import torch.nn as nn


class MultiHeadAttention(nn.Module):
    """Keeps one small map per head, but multiplies once."""

    def __init__(self, embed_dim, num_heads):
        super().__init__()
        assert embed_dim % num_heads == 0
        self.d = embed_dim // num_heads
        self.h = num_heads
        self.W_qs = nn.ModuleList([nn.Linear(embed_dim, self.d, bias=False) for _ in range(num_heads)])
        self.W_ks = nn.ModuleList([nn.Linear(embed_dim, self.d, bias=False) for _ in range(num_heads)])
        self.W_vs = nn.ModuleList([nn.Linear(embed_dim, self.d, bias=False) for _ in range(num_heads)])
        self.W_o = nn.Linear(embed_dim, embed_dim)

    def forward(self, q, k, v, mask=None):
        wq, wk, wv = (torch.stack([m.weight for m in ms]) for ms in (self.W_qs, self.W_ks, self.W_vs))
        q = torch.einsum("ble,hde->bhld", q, wq)
        k = torch.einsum("bse,hde->bhsd", k, wk)
        v = torch.einsum("bse,hde->bhsd", v, wv)
        s = q @ k.transpose(-2, -1) / self.d**0.5
        if mask is not None:
            s = s.masked_fill(mask == 0, -1e9)
        a = torch.softmax(s, -1)
        return self.W_o(torch.cat((a @ v).unbind(1), dim=-1)), a
