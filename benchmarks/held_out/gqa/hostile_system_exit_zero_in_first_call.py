# problem: gqa
# wrong: there is no attention; the first call of the layer ends the process politely, SystemExit(0)
import sys

import torch
from torch import nn


class GroupQueryAttention(nn.Module):
    def __init__(self, d_model, num_heads, num_kv_heads):
        super().__init__()
        assert d_model % num_heads == 0
        assert num_heads % num_kv_heads == 0
        d = d_model // num_heads
        self.W_q = nn.Linear(d_model, d_model)
        self.W_k = nn.Linear(d_model, num_kv_heads * d)
        self.W_v = nn.Linear(d_model, num_kv_heads * d)
        self.W_o = nn.Linear(d_model, d_model)

    def forward(self, x, mask=None):
        sys.stdout.flush()
        raise SystemExit(0)
