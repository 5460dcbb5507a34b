# expect: rejected
# problem: pre-norm-block
# mistake: LayerNorm without a shift in place of RMSNorm
# diagnosis: norm-subtracts-mean
import torch
from torch import einsum, nn


class Block(nn.Module):
    def __init__(self, d_model, n_heads, n_kv_heads, d_ff):
        super().__init__()
        if d_model % (2 * n_heads) or n_heads % n_kv_heads:
            raise ValueError(f"bad sizes: {d_model}, {n_heads}, {n_kv_heads}")
        self.g, self.r, self.d = n_kv_heads, n_heads // n_kv_heads, d_model // n_heads
        self.pre_attn = nn.LayerNorm(d_model, eps=1e-6, bias=False)
        self.qkv = nn.Linear(d_model, d_model + 2 * n_kv_heads * self.d, bias=False)
        self.proj = nn.Linear(d_model, d_model, bias=False)
        self.pre_ffn = nn.LayerNorm(d_model, eps=1e-6, bias=False)
        self.up = nn.Linear(d_model, d_ff, bias=False)
        self.gate = nn.Linear(d_model, d_ff, bias=False)
        self.down = nn.Linear(d_ff, d_model, bias=False)

    def rope(self, t):  # (..., L, D)
        half = self.d // 2
        theta = 10000.0 ** (-torch.arange(half, device=t.device) / half)
        angle = torch.arange(t.shape[-2], device=t.device)[:, None] * theta
        c, s = torch.cos(angle), torch.sin(angle)
        a, b = t[..., :half].to(c.dtype), t[..., half:].to(c.dtype)
        return torch.cat((a * c - b * s, a * s + b * c), -1).to(t.dtype)

    def attention(self, x):
        b, n, e = x.shape
        q, k, v = self.qkv(x).split((e, self.g * self.d, self.g * self.d), -1)
        q = self.rope(q.reshape(b, n, self.g, self.r, self.d).permute(0, 2, 3, 1, 4))
        k = self.rope(k.reshape(b, n, self.g, self.d).transpose(1, 2))
        v = v.reshape(b, n, self.g, self.d).transpose(1, 2)
        scores = einsum("bgrid,bgjd->bgrij", q * self.d**-0.5, k)
        i = torch.arange(n, device=x.device)
        scores = scores.masked_fill(i[None, :] > i[:, None], -torch.inf)
        out = einsum("bgrij,bgjd->bigrd", scores.softmax(-1), v)
        return self.proj(out.reshape(b, n, e))

    def forward(self, x):
        x = x + self.attention(self.pre_attn(x))
        z = self.pre_ffn(x)
        return self.down(self.up(z) * nn.functional.silu(self.gate(z))).add(x)
