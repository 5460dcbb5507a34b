# expect: accepted
# problem: encoder-block
import math

import torch
from torch import nn


class SelfAttention(nn.Module):
    def __init__(self, hidden_size, num_attention_heads, dropout):
        super().__init__()
        if hidden_size % num_attention_heads != 0:
            raise ValueError(f"{hidden_size} is not a multiple of {num_attention_heads}")
        self.num_attention_heads = num_attention_heads
        self.attention_head_size = hidden_size // num_attention_heads
        self.query = nn.Linear(hidden_size, hidden_size)
        self.key = nn.Linear(hidden_size, hidden_size)
        self.value = nn.Linear(hidden_size, hidden_size)
        self.dropout = nn.Dropout(dropout)

    def transpose_for_scores(self, x):
        x = x.view(*x.size()[:-1], self.num_attention_heads, self.attention_head_size)
        return x.permute(0, 2, 1, 3)

    def forward(self, hidden_states, attention_bias):
        query_layer = self.transpose_for_scores(self.query(hidden_states))
        key_layer = self.transpose_for_scores(self.key(hidden_states))
        value_layer = self.transpose_for_scores(self.value(hidden_states))
        attention_scores = torch.matmul(query_layer, key_layer.transpose(-1, -2))
        attention_scores = attention_scores / math.sqrt(self.attention_head_size)
        if attention_bias is not None:
            attention_scores = attention_scores + attention_bias
        attention_probs = self.dropout(nn.functional.softmax(attention_scores, dim=-1))
        context_layer = torch.matmul(attention_probs, value_layer).permute(0, 2, 1, 3).contiguous()
        return context_layer.view(*hidden_states.shape), attention_probs


class AddAndNorm(nn.Module):
    def __init__(self, in_features, hidden_size, dropout):
        super().__init__()
        self.LayerNorm = nn.LayerNorm(hidden_size, eps=1e-12)
        self.dense = nn.Linear(in_features, hidden_size)
        self.dropout = nn.Dropout(dropout)

    def forward(self, hidden_states, input_tensor):
        return self.LayerNorm(self.dropout(self.dense(hidden_states)) + input_tensor)


class Attention(nn.Module):
    def __init__(self, hidden_size, num_attention_heads, dropout):
        super().__init__()
        self.self = SelfAttention(hidden_size, num_attention_heads, dropout)
        self.output = AddAndNorm(hidden_size, hidden_size, dropout)

    def forward(self, hidden_states, attention_bias):
        context, probabilities = self.self(hidden_states, attention_bias)
        return self.output(context, hidden_states), probabilities


class Intermediate(nn.Module):
    def __init__(self, hidden_size, intermediate_size):
        super().__init__()
        self.dense = nn.Linear(hidden_size, intermediate_size)

    def forward(self, hidden_states):
        return torch.relu(self.dense(hidden_states))


class BertLayer(nn.Module):
    def __init__(
        self, hidden_size, num_attention_heads, intermediate_size, hidden_dropout_prob=0.1
    ):
        super().__init__()
        self.attention = Attention(hidden_size, num_attention_heads, hidden_dropout_prob)
        self.intermediate = Intermediate(hidden_size, intermediate_size)
        self.output = AddAndNorm(intermediate_size, hidden_size, hidden_dropout_prob)

    def forward(self, hidden_states, attention_mask=None):
        bias = None
        if attention_mask is not None:
            dtype = hidden_states.dtype
            bias = (1.0 - attention_mask.to(dtype)) * torch.finfo(dtype).min
        attention_output, probabilities = self.attention(hidden_states, bias)
        layer_output = self.output(self.intermediate(attention_output), attention_output)
        return (layer_output, probabilities)
