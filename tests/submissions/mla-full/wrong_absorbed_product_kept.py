# expect: rejected
# problem: mla-full
# mistake: the absorbed up maps are kept from the first call on
import torch
from torch import nn


class MLA(nn.Module):
    def __init__(self, dim, n_heads, q_lora_rank, kv_lora_rank, qk_rope_head_dim):
        super().__init__()
        assert dim % n_heads == 0 and qk_rope_head_dim % 2 == 0
        self.n, self.d, self.r, self.c = n_heads, dim // n_heads, qk_rope_head_dim, kv_lora_rank
        self.wq_a = nn.Linear(dim, q_lora_rank, bias=False)
        self.wq_b = nn.Linear(q_lora_rank, n_heads * (self.d + self.r), bias=False)
        self.wkv_a = nn.Linear(dim, kv_lora_rank + self.r, bias=False)
        self.wkv_b = nn.Linear(kv_lora_rank, n_heads * 2 * self.d, bias=False)
        self.wo = nn.Linear(dim, dim, bias=False)

    def forward(self, x, cache=None):
        b, s, _ = x.shape
        start = 0 if cache is None else cache[0].shape[1]
        i = torch.arange(self.r // 2, device=x.device)
        angles = torch.arange(start, start + s, device=x.device)[:, None] * 1e4 ** (-2 * i / self.r)
        q, q_pe = self.wq_b(self.wq_a(x)).view(b, s, self.n, -1).split([self.d, self.r], -1)
        kv, k_pe = self.wkv_a(x).split([self.c, self.r], dim=-1)
        q_pe, k_pe = turn(q_pe, angles[:, None]), turn(k_pe, angles)
        if cache is not None:
            kv, k_pe = torch.cat([cache[0], kv], 1), torch.cat([cache[1], k_pe], 1)
        if getattr(self, "up", None) is None or self.up.dtype != x.dtype:
            self.up = self.wkv_b.weight.view(self.n, 2, self.d, self.c).clone()
        up = self.up
        q = torch.cat([torch.einsum("bshd,hdc->bshc", q, up[:, 0]), q_pe], -1)
        k = torch.cat([kv, k_pe], -1)
        scores = torch.einsum("bshe,bte->bhst", q, k) * (self.d + self.r) ** -0.5
        late = torch.ones(s, k.shape[1], dtype=torch.bool, device=x.device).triu(start + 1)
        w = scores.masked_fill(late, float("-inf")).softmax(-1)
        out = torch.einsum("bhst,btc,hdc->bshd", w, kv, up[:, 1])
        return self.wo(out.flatten(2)), (kv, k_pe)


def turn(x, angles):
    cos, sin = angles.cos().to(x.dtype), angles.sin().to(x.dtype)
    a, b = x.chunk(2, -1)
    return torch.cat([a * cos - b * sin, b * cos + a * sin], -1)
