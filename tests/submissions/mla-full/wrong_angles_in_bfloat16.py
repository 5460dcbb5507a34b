# expect: rejected
# problem: mla-full
# mistake: the angles are computed in the dtype of the queries
import torch
from torch import nn


class MultiHeadLatentAttention(nn.Module):
    """The paper's matrices as plain parameters, in no particular order, used as x @ W."""

    def __init__(self, d_model, n_heads, d_c_q, d_c, d_rope):
        super().__init__()
        if d_model % n_heads or d_rope % 2:
            raise ValueError("sizes")
        self.n_heads = n_heads

        def matrix(rows, columns):
            return nn.Parameter(torch.randn(rows, columns) * rows**-0.5)

        self.W_O = matrix(d_model, d_model)
        self.W_UV = matrix(d_c, d_model)
        self.W_UK = matrix(d_c, d_model)
        self.W_DKV = matrix(d_model, d_c)
        self.W_KR = matrix(d_model, d_rope)
        self.W_QR = matrix(d_c_q, n_heads * d_rope)
        self.W_UQ = matrix(d_c_q, d_model)
        self.W_DQ = matrix(d_model, d_c_q)

    def forward(self, x, kv_cache=None):
        c_q, c_kv, k_r = x @ self.W_DQ, x @ self.W_DKV, x @ self.W_KR
        T = kv_cache[0].size(1) if kv_cache else 0
        p = torch.arange(T, T + x.size(1), device=x.device)
        k_r = rope(k_r[:, None], p)[:, 0]
        if kv_cache:
            c_kv, k_r = torch.cat([kv_cache[0], c_kv], 1), torch.cat([kv_cache[1], k_r], 1)

        def heads(t):
            return t.unflatten(-1, (self.n_heads, -1)).transpose(1, 2)

        q = torch.cat([heads(c_q @ self.W_UQ), rope(heads(c_q @ self.W_QR), p)], -1)
        k, v = heads(c_kv @ self.W_UK), heads(c_kv @ self.W_UV)
        k = torch.cat([k, k_r[:, None].expand(-1, self.n_heads, -1, -1)], -1)
        s = (q / q.size(-1) ** 0.5) @ k.mT
        ahead = torch.arange(k.size(2), device=x.device) > p[:, None]
        s = s.masked_fill(ahead, -1e9)
        return (s.softmax(-1) @ v).transpose(1, 2).flatten(2) @ self.W_O, [c_kv, k_r]


def rope(x, positions):
    half = x.size(-1) // 2
    theta = 10000.0 ** (-torch.arange(half, device=x.device) / half)
    angle = positions[:, None].to(x.dtype) * theta.to(x.dtype)
    cos, sin = angle.cos().to(x.dtype), angle.sin().to(x.dtype)
    a, b = x[..., :half], x[..., half:]
    return torch.cat([a * cos - b * sin, b * cos + a * sin], -1)
