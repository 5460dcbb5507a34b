# expect: accepted
# problem: kv-cache-step
import torch
from torch import nn


class CachedSelfAttention(nn.Module):
    """Fused map, features as (heads, 3, depth), as in BLOOM and NeoX."""

    def __init__(self, hidden_size, num_attention_heads):
        super().__init__()
        assert hidden_size % num_attention_heads == 0
        self.num_heads = num_attention_heads
        self.head_dim = hidden_size // num_attention_heads
        self.query_key_value = nn.Linear(hidden_size, 3 * hidden_size)
        self.dense = nn.Linear(hidden_size, hidden_size)

    def forward(self, hidden_states, layer_past=None):
        batch, length, _ = hidden_states.shape
        fused = self.query_key_value(hidden_states)
        fused = fused.view(batch, length, self.num_heads, 3, self.head_dim).permute(3, 0, 2, 1, 4)
        query, key, value = fused.unbind(0)
        if layer_past is not None:
            key = torch.cat((layer_past[0], key), dim=2)
            value = torch.cat((layer_past[1], value), dim=2)
        total = key.size(2)
        causal = torch.ones(total, total, dtype=torch.bool, device=query.device).tril()
        scores = torch.matmul(query, key.mT) * self.head_dim**-0.5
        scores = scores.masked_fill(~causal[total - length : total], float("-inf"))
        context = torch.matmul(torch.softmax(scores, dim=-1), value)
        context = context.transpose(1, 2).flatten(2)
        return self.dense(context), (key, value)
