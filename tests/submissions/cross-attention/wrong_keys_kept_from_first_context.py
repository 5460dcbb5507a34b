# expect: rejected
# problem: cross-attention
# mistake: keeps keys and values of the first context, as decoders do while they generate
import torch
from torch import nn


class EncoderDecoderAttention(nn.Module):
    def __init__(self, embed_dim, num_heads, context_dim):
        super().__init__()
        assert embed_dim % num_heads == 0
        self.num_heads = num_heads
        self.q_proj = nn.Linear(embed_dim, embed_dim)
        self.k_proj = nn.Linear(context_dim, embed_dim)
        self.v_proj = nn.Linear(context_dim, embed_dim)
        self.out_proj = nn.Linear(embed_dim, embed_dim)
        self.cache = {}

    def heads(self, t):
        return t.unflatten(-1, (self.num_heads, -1)).transpose(1, 2)

    def forward(self, hidden_states, encoder_hidden_states, encoder_attention_mask=None):
        key = tuple(encoder_hidden_states.shape)
        if key not in self.cache:
            k = self.heads(self.k_proj(encoder_hidden_states))
            v = self.heads(self.v_proj(encoder_hidden_states))
            self.cache[key] = (k, v)
        k, v = self.cache[key]
        q = self.heads(self.q_proj(hidden_states))
        s = q @ k.transpose(-1, -2) * q.shape[-1] ** -0.5
        if encoder_attention_mask is not None:
            s = s.masked_fill(encoder_attention_mask[:, None, None] == 0, -torch.inf)
        o = s.softmax(-1) @ v
        return self.out_proj(o.transpose(1, 2).flatten(2))
