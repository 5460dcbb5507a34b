# expect: accepted
# problem: linformer
import torch
from torch import nn
from torch.nn import functional as F


class LowRankSelfAttention(nn.Module):
    """The length maps as 1 x 1 convolutions: positions are channels."""

    def __init__(self, hidden_size, num_attention_heads, max_seq_len, low_rank):
        super().__init__()
        if hidden_size % num_attention_heads != 0:
            raise ValueError("hidden_size % num_attention_heads")
        self.heads = num_attention_heads
        self.query = nn.Linear(hidden_size, hidden_size)
        self.key = nn.Linear(hidden_size, hidden_size)
        self.value = nn.Linear(hidden_size, hidden_size)
        self.key_length = nn.Conv1d(max_seq_len, low_rank, 1)
        self.value_length = nn.Conv1d(max_seq_len, low_rank, 1)
        self.dense = nn.Linear(hidden_size, hidden_size)

    def forward(self, hidden_states):
        b, n, e = hidden_states.shape
        q = self.query(hidden_states)
        k = self.key_length(self.key(hidden_states))
        v = self.value_length(self.value(hidden_states))
        # heads folded into the batch
        q, k, v = (
            t.reshape(b, -1, self.heads, e // self.heads).transpose(1, 2).flatten(0, 1)
            for t in (q, k, v)
        )
        p = F.softmax(torch.bmm(q, k.transpose(1, 2)) * (e // self.heads) ** -0.5, dim=-1)
        context = torch.bmm(p, v).view(b, self.heads, n, -1).transpose(1, 2).reshape(b, n, e)
        return (self.dense(context),)
