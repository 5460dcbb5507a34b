# expect: accepted
# problem: gqa
import torch
import torch.nn as nn


class GroupQueryAttention(nn.Module):
    """heads first, as I always write it"""

    def __init__(self, n_heads, n_kv_heads, d_model, dropout=0.1):
        super().__init__()
        assert d_model % n_heads == 0
        assert n_heads % n_kv_heads == 0
        self.H = n_heads
        self.G = n_kv_heads
        self.D = d_model // n_heads
        self.q_linear = nn.Linear(d_model, d_model)
        self.kv_proj = nn.Linear(d_model, 2 * n_kv_heads * self.D)
        self.out = nn.Linear(d_model, d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x, mask=None):
        B, L, E = x.size()
        q = self.q_linear(x).view(B, L, self.H, self.D).transpose(1, 2)
        k, v = self.kv_proj(x).view(B, L, 2, self.G, self.D).permute(2, 0, 3, 1, 4)
        index = torch.arange(self.H, device=x.device) // (self.H // self.G)
        k, v = k[:, index], v[:, index]
        scores = torch.einsum("bhid,bhjd->bhij", q, k) / self.D**0.5
        if mask is not None:
            scores = scores.masked_fill(mask == 0, -1e9)
        weights = self.dropout(scores.softmax(dim=-1))
        y = torch.einsum("bhij,bhjd->bihd", weights, v).reshape(B, L, E)
        return self.out(y)
