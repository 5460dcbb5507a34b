# expect: accepted
# problem: linformer
import torch
import torch.nn as nn


class LinearAttentionHead(nn.Module):
    """One head; E and F are handed in, shared by all heads."""

    def __init__(self, dim, head_dim):
        super().__init__()
        self.w_q = nn.Linear(dim, head_dim)
        self.w_k = nn.Linear(dim, head_dim)
        self.w_v = nn.Linear(dim, head_dim)
        self.head_dim = head_dim

    def forward(self, x, e_proj, f_proj):
        keys = e_proj(self.w_k(x).transpose(1, 2))  # (B, head_dim, K)
        p = torch.matmul(self.w_q(x), keys) / self.head_dim**0.5
        values = f_proj(self.w_v(x).transpose(1, 2)).transpose(1, 2)
        return torch.matmul(p.softmax(dim=-1), values)


class LinformerAttention(nn.Module):
    def __init__(self, d_model, nhead, max_len, dim_k):
        super().__init__()
        if d_model % nhead:
            raise ValueError("nhead does not divide d_model")
        self.input_size = max_len
        self.F = nn.Linear(max_len, dim_k, bias=False)
        self.E = nn.Linear(max_len, dim_k, bias=False)
        self.heads = nn.ModuleList(
            LinearAttentionHead(d_model, d_model // nhead) for _ in range(nhead)
        )
        self.w_o = nn.Linear(d_model, d_model)

    def forward(self, x):
        if x.size(1) != self.input_size:
            raise ValueError(f"length {x.size(1)}, made for {self.input_size}")
        return self.w_o(torch.cat([head(x, self.E, self.F) for head in self.heads], dim=-1))
