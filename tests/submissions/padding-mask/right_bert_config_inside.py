# expect: accepted
# problem: padding-mask
import math
import torch
import torch.nn as nn
import torch.nn.functional as F

class BertConfig:
    def __init__(self, hidden_size=768, num_attention_heads=12, attention_probs_dropout_prob=0.1):
        self.hidden_size, self.num_attention_heads, self.attention_probs_dropout_prob = hidden_size, num_attention_heads, attention_probs_dropout_prob
class _Self(nn.Module):
    def __init__(self, config):
        super().__init__()
        if config.hidden_size % config.num_attention_heads != 0:
            raise ValueError("not a multiple")
        self.num_attention_heads = config.num_attention_heads
        self.attention_head_size = int(config.hidden_size / config.num_attention_heads)
        self.all_head_size = self.num_attention_heads * self.attention_head_size
        self.query = nn.Linear(config.hidden_size, self.all_head_size)
        self.key = nn.Linear(config.hidden_size, self.all_head_size)
        self.value = nn.Linear(config.hidden_size, self.all_head_size)
        self.dropout = nn.Dropout(config.attention_probs_dropout_prob)
    def transpose_for_scores(self, x):
        new_x_shape = x.size()[:-1] + (self.num_attention_heads, self.attention_head_size)
        return x.view(new_x_shape).permute(0, 2, 1, 3)
    def forward(self, hidden_states, attention_mask=None):
        query_layer = self.transpose_for_scores(self.query(hidden_states))
        key_layer = self.transpose_for_scores(self.key(hidden_states))
        value_layer = self.transpose_for_scores(self.value(hidden_states))
        attention_scores = torch.matmul(query_layer, key_layer.transpose(-1, -2))
        attention_scores = attention_scores / math.sqrt(self.attention_head_size)
        if attention_mask is not None:
            attention_scores = attention_scores + attention_mask
        attention_probs = nn.functional.softmax(attention_scores, dim=-1)
        attention_probs = self.dropout(attention_probs)
        context_layer = torch.matmul(attention_probs, value_layer)
        context_layer = context_layer.permute(0, 2, 1, 3).contiguous()
        return context_layer.view(context_layer.size()[:-2] + (self.all_head_size,)), attention_probs
class BertSelfOutput(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.dense = nn.Linear(config.hidden_size, config.hidden_size)
    def forward(self, x): return self.dense(x)
class BertAttention(nn.Module):
    def __init__(self, hidden_size, num_heads):
        super().__init__()
        config = BertConfig(hidden_size, num_heads)
        self.self = _Self(config)
        self.output = BertSelfOutput(config)
    def get_extended_attention_mask(self, attention_mask, dtype):
        extended_attention_mask = attention_mask[:, None, None, :].to(dtype=dtype)
        return (1.0 - extended_attention_mask) * torch.finfo(dtype).min
    def forward(self, hidden_states, attention_mask=None, output_attentions=False):
        if attention_mask is not None:
            attention_mask = self.get_extended_attention_mask(attention_mask, hidden_states.dtype)
        ctx, probs = self.self(hidden_states, attention_mask)
        out = self.output(ctx)
        return (out, probs) if output_attentions else (out,)
