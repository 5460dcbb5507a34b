# problem: gqa
# wrong: an input that is not E wide must raise; here the surplus features are silently dropped
# needs: errors
import torch
from torch import nn


class GroupQueryAttention(nn.Module):
    def __init__(self, d_model, num_heads, num_kv_heads):
        super().__init__()
        assert d_model % num_heads == 0 and num_heads % num_kv_heads == 0
        self.E, self.H, self.G = d_model, num_heads, num_kv_heads
        self.D = d_model // num_heads
        self.W_q = nn.Linear(d_model, d_model)
        self.W_k = nn.Linear(d_model, self.G * self.D)
        self.W_v = nn.Linear(d_model, self.G * self.D)
        self.W_o = nn.Linear(d_model, d_model)

    def forward(self, x, mask=None):
        x = x[:, :, : self.E]
        B, L = x.shape[:2]
        q = self.W_q(x).reshape(B, L, self.G, -1, self.D)
        k = self.W_k(x).reshape(B, L, self.G, self.D)
        v = self.W_v(x).reshape(B, L, self.G, self.D)
        s = torch.einsum("bigrd,bjgd->bgrij", q, k).flatten(1, 2) / self.D**0.5
        if mask is not None:
            s = s.masked_fill(mask == 0, -1e9)
        p = s.softmax(-1).unflatten(1, (self.G, self.H // self.G))
        o = torch.einsum("bgrij,bjgd->bigrd", p, v)
        return self.W_o(o.reshape(B, L, self.E))
