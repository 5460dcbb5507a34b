# expect: accepted
# problem: mla-full
import torch
from torch import nn


class MLA(nn.Module):
    """The published inference code: absorbed einsums over the cache, fused maps with biases."""

    def __init__(self, dim, n_heads, q_lora_rank, kv_lora_rank, qk_rope_head_dim):
        super().__init__()
        assert dim % n_heads == 0 and qk_rope_head_dim % 2 == 0
        self.n, self.d, self.r, self.c = n_heads, dim // n_heads, qk_rope_head_dim, kv_lora_rank
        self.wq_a = nn.Linear(dim, q_lora_rank)
        self.wq_b = nn.Linear(q_lora_rank, n_heads * (self.d + self.r))
        self.wkv_a = nn.Linear(dim, kv_lora_rank + self.r)
        self.wkv_b = nn.Linear(kv_lora_rank, n_heads * 2 * self.d)
        self.wo = nn.Linear(dim, dim)
        self.softmax_scale = (self.d + self.r) ** -0.5

    def forward(self, x, cache=None):
        bsz, seqlen, _ = x.shape
        start = 0 if cache is None else cache[0].shape[1]
        angles = torch.arange(start, start + seqlen, device=x.device)[:, None] * (
            10000.0 ** (-torch.arange(0, self.r, 2, device=x.device) / self.r)
        )
        freqs = torch.polar(torch.ones_like(angles), angles)
        q = self.wq_b(self.wq_a(x)).view(bsz, seqlen, self.n, self.d + self.r)
        q_nope, q_pe = q.split([self.d, self.r], dim=-1)
        kv, k_pe = self.wkv_a(x).split([self.c, self.r], dim=-1)
        q_pe = apply_rotary_emb(q_pe, freqs[:, None])
        k_pe = apply_rotary_emb(k_pe, freqs)
        if cache is not None:
            kv, k_pe = torch.cat([cache[0], kv], 1), torch.cat([cache[1], k_pe], 1)
        wkv_b = self.wkv_b.weight.view(self.n, -1, self.c)
        bias_v = self.wkv_b.bias.view(self.n, -1)[:, self.d :]
        q_nope = torch.einsum("bshd,hdc->bshc", q_nope, wkv_b[:, : self.d])
        scores = torch.einsum("bshc,btc->bsht", q_nope, kv)
        scores = (scores + torch.einsum("bshr,btr->bsht", q_pe, k_pe)) * self.softmax_scale
        late = torch.ones(seqlen, kv.shape[1], dtype=torch.bool, device=x.device).triu(start + 1)
        scores = scores.masked_fill(late.unsqueeze(1), float("-inf"))
        scores = scores.softmax(dim=-1, dtype=torch.float32).type_as(x)
        out = torch.einsum("bsht,btc->bshc", scores, kv)
        out = torch.einsum("bshc,hdc->bshd", out, wkv_b[:, -self.d :]) + bias_v
        return self.wo(out.flatten(2)), (kv, k_pe)


def apply_rotary_emb(x, freqs):
    wide = torch.promote_types(x.dtype, torch.float32)
    first, second = x.to(wide).chunk(2, -1)
    turned = torch.complex(first, second) * freqs
    return torch.cat([turned.real, turned.imag], -1).to(x.dtype)
