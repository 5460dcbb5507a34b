# expect: rejected
# problem: mla-full
# mistake: the scores are divided by the root of the content width alone
# diagnosis: scale-by-sqrt-content
import math

import torch
from torch import nn


class DeepseekV2Attention(nn.Module):
    """Names and layout of the published layer, without norms and biases, pairs as here."""

    def __init__(
        self, hidden_size, num_attention_heads, q_lora_rank, kv_lora_rank, qk_rope_head_dim
    ):
        super().__init__()
        if hidden_size % num_attention_heads or qk_rope_head_dim % 2:
            raise ValueError("hidden_size must be divisible, qk_rope_head_dim even")
        self.num_heads = num_attention_heads
        self.kv_lora_rank, self.qk_rope_head_dim = kv_lora_rank, qk_rope_head_dim
        self.v_head_dim = self.qk_nope_head_dim = hidden_size // num_attention_heads
        self.q_head_dim = self.qk_nope_head_dim + qk_rope_head_dim
        self.q_a_proj = nn.Linear(hidden_size, q_lora_rank, bias=False)
        self.q_b_proj = nn.Linear(q_lora_rank, num_attention_heads * self.q_head_dim, bias=False)
        self.kv_a_proj_with_mqa = nn.Linear(
            hidden_size, kv_lora_rank + qk_rope_head_dim, bias=False
        )
        self.kv_b_proj = nn.Linear(
            kv_lora_rank,
            num_attention_heads * (self.qk_nope_head_dim + self.v_head_dim),
            bias=False,
        )
        self.o_proj = nn.Linear(num_attention_heads * self.v_head_dim, hidden_size, bias=False)
        self.softmax_scale = self.qk_nope_head_dim**-0.5

    def forward(self, hidden_states, past_key_value=None):
        bsz, q_len, _ = hidden_states.size()
        q = self.q_b_proj(self.q_a_proj(hidden_states))
        q = q.view(bsz, q_len, self.num_heads, self.q_head_dim).transpose(1, 2)
        q_nope, q_pe = torch.split(q, [self.qk_nope_head_dim, self.qk_rope_head_dim], dim=-1)
        compressed_kv = self.kv_a_proj_with_mqa(hidden_states)
        compressed_kv, k_pe = torch.split(
            compressed_kv, [self.kv_lora_rank, self.qk_rope_head_dim], dim=-1
        )
        past = 0 if past_key_value is None else past_key_value[0].shape[1]
        cos, sin = self.rotary(past, q_len, hidden_states)
        q_pe = q_pe * cos + rotate_half(q_pe) * sin
        k_pe = k_pe * cos + rotate_half(k_pe) * sin
        if past_key_value is not None:
            compressed_kv = torch.cat([past_key_value[0], compressed_kv], dim=1)
            k_pe = torch.cat([past_key_value[1], k_pe], dim=1)
        kv_len = compressed_kv.size(1)
        kv = self.kv_b_proj(compressed_kv).view(bsz, kv_len, self.num_heads, -1).transpose(1, 2)
        k_nope, value_states = torch.split(kv, [self.qk_nope_head_dim, self.v_head_dim], dim=-1)

        query_states = k_pe.new_empty(bsz, self.num_heads, q_len, self.q_head_dim)
        query_states[..., : self.qk_nope_head_dim] = q_nope
        query_states[..., self.qk_nope_head_dim :] = q_pe
        key_states = k_pe.new_empty(bsz, self.num_heads, kv_len, self.q_head_dim)
        key_states[..., : self.qk_nope_head_dim] = k_nope
        key_states[..., self.qk_nope_head_dim :] = k_pe.unsqueeze(1)
        attn_weights = torch.matmul(query_states, key_states.transpose(2, 3)) * self.softmax_scale
        mask = torch.full((q_len, kv_len), -math.inf, device=q.device, dtype=attn_weights.dtype)
        attn_weights = attn_weights + torch.triu(mask, diagonal=past + 1)
        attn_weights = nn.functional.softmax(attn_weights, dim=-1, dtype=torch.float32).to(q.dtype)
        attn_output = torch.matmul(attn_weights, value_states)
        attn_output = attn_output.transpose(1, 2).contiguous().reshape(bsz, q_len, -1)
        return self.o_proj(attn_output), (compressed_kv, k_pe)

    def rotary(self, past, length, like):
        dim = self.qk_rope_head_dim
        inv_freq = 1.0 / (10000 ** (torch.arange(0, dim, 2, device=like.device).float() / dim))
        t = torch.arange(past, past + length, device=like.device).float()
        emb = torch.outer(t, inv_freq).repeat(1, 2)
        return emb.cos().to(like.dtype), emb.sin().to(like.dtype)


def rotate_half(x):
    x1, x2 = x.chunk(2, dim=-1)
    return torch.cat((-x2, x1), dim=-1)
