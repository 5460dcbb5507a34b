# expect: accepted
# problem: relative-bias
import torch
from torch import nn


class T5Attention(nn.Module):
    """T5's names; maps without bias, scaled scores, clipped distances for buckets."""

    def __init__(self, hidden_size: int, num_attention_heads: int, max_distance: int):
        super().__init__()
        if hidden_size % num_attention_heads:
            raise ValueError("hidden_size must be a multiple of num_attention_heads")
        self.n_heads = num_attention_heads
        self.key_value_proj_dim = hidden_size // num_attention_heads
        self.max_distance = max_distance
        self.relative_attention_num_buckets = 2 * max_distance + 1
        self.q = nn.Linear(hidden_size, hidden_size, bias=False)
        self.k = nn.Linear(hidden_size, hidden_size, bias=False)
        self.v = nn.Linear(hidden_size, hidden_size, bias=False)
        self.o = nn.Linear(hidden_size, hidden_size, bias=False)
        self.relative_attention_bias = nn.Embedding(
            self.relative_attention_num_buckets, self.n_heads
        )

    def compute_bias(self, query_length, key_length, device):
        context_position = torch.arange(query_length, dtype=torch.long, device=device)[:, None]
        memory_position = torch.arange(key_length, dtype=torch.long, device=device)[None, :]
        relative_position = memory_position - context_position
        bucket = torch.where(
            relative_position.abs() < self.max_distance,
            relative_position,
            torch.sign(relative_position) * self.max_distance,
        )
        values = self.relative_attention_bias(bucket + self.max_distance)
        return values.permute([2, 0, 1]).unsqueeze(0)

    def forward(self, hidden_states):
        batch_size, seq_length = hidden_states.shape[:2]

        def shape(states):
            return states.view(batch_size, -1, self.n_heads, self.key_value_proj_dim).transpose(
                1, 2
            )

        query_states, key_states, value_states = (
            shape(m(hidden_states)) for m in (self.q, self.k, self.v)
        )
        scores = (
            torch.matmul(query_states, key_states.transpose(3, 2)) * self.key_value_proj_dim**-0.5
        )
        scores = scores + self.compute_bias(seq_length, seq_length, scores.device)
        attn_weights = nn.functional.softmax(scores.float(), dim=-1).type_as(scores)
        attn_output = torch.matmul(attn_weights, value_states).transpose(1, 2).contiguous()
        attn_output = attn_output.view(batch_size, -1, self.n_heads * self.key_value_proj_dim)
        return (self.o(attn_output), attn_weights)
