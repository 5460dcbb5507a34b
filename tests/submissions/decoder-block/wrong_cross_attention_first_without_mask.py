# expect: rejected
# problem: decoder-block
# mistake: cross-attention comes first, and there is no causal mask
# diagnosis: none
import torch
import torch.nn as nn


class Attn(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        if dim % heads:
            raise ValueError("heads")
        self.heads = heads
        self.q_proj = nn.Linear(dim, dim)
        self.k_proj = nn.Linear(dim, dim)
        self.v_proj = nn.Linear(dim, dim)
        self.out_proj = nn.Linear(dim, dim)

    def forward(self, xq, xkv, keep=None):
        if xq.shape[0] != xkv.shape[0]:
            raise ValueError("batch")
        qs = self.q_proj(xq).chunk(self.heads, -1)
        ks = self.k_proj(xkv).chunk(self.heads, -1)
        vs = self.v_proj(xkv).chunk(self.heads, -1)
        outs = []
        for q, k, v in zip(qs, ks, vs):
            s = torch.bmm(q, k.transpose(1, 2)) / q.size(-1) ** 0.5
            if keep is not None:
                s = s.masked_fill(~keep, float("-inf"))
            outs.append(torch.bmm(s.softmax(-1), v))
        return self.out_proj(torch.cat(outs, -1))


class DecoderLayer(nn.Module):
    def __init__(self, d_model, n_heads, d_ff):
        super().__init__()
        self.self_attn = Attn(d_model, n_heads)
        self.n1 = nn.LayerNorm(d_model)
        self.cross_attn = Attn(d_model, n_heads)
        self.n2 = nn.LayerNorm(d_model)
        self.ff = nn.Sequential(nn.Linear(d_model, d_ff), nn.ReLU(), nn.Linear(d_ff, d_model))
        self.n3 = nn.LayerNorm(d_model)

    def forward(self, x, memory, memory_mask=None):
        L = x.shape[1]
        causal = torch.tril(torch.ones(1, L, L, device=x.device)).bool()
        mm = None if memory_mask is None else memory_mask[:, 0].bool()
        x = self.n2(x + self.cross_attn(x, memory, mm))
        x = self.n1(x + self.self_attn(x, x))
        return self.n3(x + self.ff(x))
