# expect: accepted
# problem: mla
import math

import torch
from torch import nn


class DeepseekV2Attention(nn.Module):
    """Names and layout of the published layer, without norm, rotary part and biases."""

    def __init__(self, hidden_size: int, num_attention_heads: int, kv_lora_rank: int):
        super().__init__()
        if hidden_size % num_attention_heads:
            raise ValueError("hidden_size must be divisible by num_attention_heads")
        self.num_heads = num_attention_heads
        self.v_head_dim = self.qk_nope_head_dim = hidden_size // num_attention_heads
        self.q_proj = nn.Linear(hidden_size, hidden_size, bias=False)
        self.kv_a_proj_with_mqa = nn.Linear(hidden_size, kv_lora_rank, bias=False)
        self.kv_b_proj = nn.Linear(
            kv_lora_rank,
            num_attention_heads * (self.qk_nope_head_dim + self.v_head_dim),
            bias=False,
        )
        self.o_proj = nn.Linear(num_attention_heads * self.v_head_dim, hidden_size, bias=False)
        self.softmax_scale = self.qk_nope_head_dim ** (-0.5)

    def forward(self, hidden_states, past_key_value=None):
        bsz, q_len, _ = hidden_states.size()
        q = self.q_proj(hidden_states).view(bsz, q_len, self.num_heads, -1).transpose(1, 2)
        compressed_kv = self.kv_a_proj_with_mqa(hidden_states)
        if past_key_value is not None:
            compressed_kv = torch.cat([past_key_value, compressed_kv], dim=1)
        kv_len = compressed_kv.size(1)
        kv = self.kv_b_proj(compressed_kv).view(bsz, kv_len, self.num_heads, -1).transpose(1, 2)
        k_nope, value_states = torch.split(kv, [self.qk_nope_head_dim, self.v_head_dim], dim=-1)
        attn_weights = torch.matmul(q, k_nope.transpose(2, 3)) * self.softmax_scale
        mask = torch.full((q_len, kv_len), -math.inf, device=q.device, dtype=attn_weights.dtype)
        attn_weights = attn_weights + torch.triu(mask, diagonal=kv_len - q_len + 1)
        attn_weights = nn.functional.softmax(attn_weights, dim=-1, dtype=torch.float32).to(q.dtype)
        attn_output = torch.matmul(attn_weights, value_states)
        attn_output = attn_output.transpose(1, 2).contiguous().reshape(bsz, q_len, -1)
        return self.o_proj(attn_output), compressed_kv
