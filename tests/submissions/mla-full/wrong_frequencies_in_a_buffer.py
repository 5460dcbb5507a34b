# expect: rejected
# problem: mla-full
# mistake: the frequencies are a buffer, which is converted to bfloat16 with the layer
# diagnosis: frequencies-rounded
import torch
from torch import nn


def rotate_half(x):
    half = x.shape[-1] // 2
    return torch.cat((-x[..., half:], x[..., :half]), dim=-1)


class RotaryLatentAttention(nn.Module):
    def __init__(self, embed_dim, num_heads, query_latent_dim, latent_dim, rope_dim):
        super().__init__()
        if embed_dim % num_heads != 0:
            raise ValueError("num_heads must divide embed_dim")
        if rope_dim % 2 != 0:
            raise ValueError("rope_dim must be even")
        self.num_heads = num_heads
        self.head_dim = embed_dim // num_heads
        self.rope_dim = rope_dim
        self.latent_dim = latent_dim
        self.q_a_proj = nn.Linear(embed_dim, query_latent_dim, bias=False)
        self.q_up = nn.Linear(query_latent_dim, embed_dim, bias=False)
        self.q_rope = nn.Linear(query_latent_dim, num_heads * rope_dim, bias=False)
        self.kv_down = nn.Linear(embed_dim, latent_dim, bias=False)
        self.k_rope = nn.Linear(embed_dim, rope_dim, bias=False)
        self.k_up = nn.Linear(latent_dim, embed_dim, bias=False)
        self.v_up = nn.Linear(latent_dim, embed_dim, bias=False)
        self.o_proj = nn.Linear(embed_dim, embed_dim, bias=False)
        inv_freq = 1.0 / (10000 ** (torch.arange(0, rope_dim, 2).float() / rope_dim))
        self.register_buffer("inv_freq", inv_freq, persistent=False)

    def turn(self, x, position_ids):
        freqs = torch.outer(position_ids.float(), self.inv_freq.float())
        emb = torch.cat((freqs, freqs), dim=-1)
        dtype = x.dtype
        x = x.to(torch.promote_types(dtype, torch.float32))
        return (x * emb.cos() + rotate_half(x) * emb.sin()).to(dtype)

    def forward(self, x, cache=None):
        bsz, q_len, _ = x.size()
        past_len = 0
        if cache is not None:
            if cache[0].shape[-1] != self.latent_dim or cache[1].shape[-1] != self.rope_dim:
                raise ValueError("cache of another width")
            if cache[0].shape[:2] != cache[1].shape[:2] or cache[0].shape[0] != bsz:
                raise ValueError("cache of another size")
            past_len = cache[0].shape[1]
        position_ids = torch.arange(past_len, past_len + q_len, device=x.device)

        q_latent = self.q_a_proj(x)
        q_nope = self.q_up(q_latent).view(bsz, q_len, self.num_heads, self.head_dim).transpose(1, 2)
        q_pe = self.q_rope(q_latent).view(bsz, q_len, self.num_heads, self.rope_dim).transpose(1, 2)
        q_pe = self.turn(q_pe, position_ids)
        latent = self.kv_down(x)
        k_pe = self.turn(self.k_rope(x), position_ids)
        if cache is not None:
            latent = torch.cat([cache[0], latent], dim=1)
            k_pe = torch.cat([cache[1], k_pe], dim=1)
        kv_len = latent.shape[1]
        k_nope = self.k_up(latent).view(bsz, kv_len, self.num_heads, self.head_dim).transpose(1, 2)
        value = self.v_up(latent).view(bsz, kv_len, self.num_heads, self.head_dim).transpose(1, 2)

        query = torch.cat([q_nope, q_pe], dim=-1)
        key = torch.cat([k_nope, k_pe.unsqueeze(1).expand(-1, self.num_heads, -1, -1)], dim=-1)
        attn = torch.matmul(query, key.transpose(2, 3)) * query.shape[-1] ** -0.5
        blocked = torch.arange(kv_len, device=x.device)[None, :] > position_ids[:, None]
        attn = attn.masked_fill(blocked, torch.finfo(attn.dtype).min).softmax(dim=-1)
        out = torch.matmul(attn, value).transpose(1, 2).reshape(bsz, q_len, -1)
        return self.o_proj(out), (latent, k_pe)
