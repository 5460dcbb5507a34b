# expect: rejected
# problem: padding-mask
# mistake: a score of exactly 0 counts as padding
import math
import torch
import torch.nn.functional as F
from torch import nn

class MultiHeadAttention(nn.Module):
    def __init__(self, hidden_size, num_heads):
        super().__init__()
        assert hidden_size % num_heads == 0
        self.h, self.d = num_heads, hidden_size // num_heads
        self.q_proj = nn.Linear(hidden_size, hidden_size)
        self.k_proj = nn.Linear(hidden_size, hidden_size)
        self.v_proj = nn.Linear(hidden_size, hidden_size)
        self.out_proj = nn.Linear(hidden_size, hidden_size)
    def forward(self, hidden_state, attention_mask=None):
        x, mask = hidden_state, attention_mask
        B, L, E = x.shape
        q = self.q_proj(x).view(B, L, self.h, self.d).transpose(1, 2)
        k = self.k_proj(x).view(B, L, self.h, self.d).transpose(1, 2)
        v = self.v_proj(x).view(B, L, self.h, self.d).transpose(1, 2)
        s = q @ k.transpose(-2, -1) / math.sqrt(self.d)
        if mask is not None:
            s = s * mask[:, None, None, :]
            s = s.masked_fill(s == 0, float("-inf"))
        w = s.softmax(-1)
        o = (w @ v).transpose(1, 2).reshape(B, L, E)
        return self.out_proj(o)
