# expect: accepted
# problem: pre-norm-block
"""No nn.Module: tensors as attributes, rotation matrices, a loop over queries."""

import math

import torch


class Block:
    def __init__(self, dim, n_heads, n_kv_heads, hidden_dim):
        if dim % n_heads or n_heads % n_kv_heads:
            raise ValueError("sizes")
        d = dim // n_heads
        if d % 2:
            raise ValueError("odd")
        self.d, self.n_heads, self.n_kv = d, n_heads, n_kv_heads
        r = lambda a, b: (torch.randn(a, b) / math.sqrt(a)).requires_grad_()
        self.attn_norm = torch.ones(dim, requires_grad=True)
        self.ffn_norm = torch.ones(dim, requires_grad=True)
        self.wq, self.wk, self.wv = r(dim, dim), r(dim, d * n_kv_heads), r(dim, d * n_kv_heads)
        self.wo = r(dim, dim)
        self.w_gate, self.w_up, self.w_down = r(dim, hidden_dim), r(dim, hidden_dim), r(hidden_dim, dim)

    def norm(self, z, weight):
        wide = z.to(torch.promote_types(z.dtype, torch.float32))
        return (wide / (wide.pow(2).sum(-1, keepdim=True) / wide.shape[-1] + 1e-6).sqrt() * weight).to(z.dtype)

    def __call__(self, x):
        B, L, E = x.shape
        d, half = self.d, self.d // 2
        n = self.norm(x, self.attn_norm)
        q = (n @ self.wq).view(B, L, -1, d)
        k = (n @ self.wk).view(B, L, -1, d)
        v = (n @ self.wv).view(B, L, -1, d)
        i = torch.arange(half)
        phi = torch.arange(L).double()[:, None] * torch.exp(-2 * i.double() / d * math.log(10000))
        R = torch.zeros(L, d, d, dtype=torch.float64)
        R[:, i, i] = R[:, i + half, i + half] = phi.cos()
        R[:, i, i + half] = -phi.sin()
        R[:, i + half, i] = phi.sin()
        R = R.to(x.dtype)
        q, k = (torch.einsum("lij,blhj->blhi", R, z) for z in (q, k))
        rows = []
        owner = torch.arange(self.n_heads) // (self.n_heads // self.n_kv)
        k, v = k[:, :, owner], v[:, :, owner]
        for p in range(L):
            s = torch.einsum("bhd,bkhd->bhk", q[:, p], k[:, : p + 1]) / math.sqrt(d)
            rows.append(torch.einsum("bhk,bkhd->bhd", s.softmax(-1), v[:, : p + 1]).flatten(1))
        y = torch.stack(rows, 1) @ self.wo + x
        m = self.norm(y, self.ffn_norm)
        g = m @ self.w_gate
        return (torch.nn.functional.silu(g) * (m @ self.w_up)) @ self.w_down + y
