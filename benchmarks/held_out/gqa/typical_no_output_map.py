# problem: gqa
# wrong: the output is Concat(heads) W_o + b_o; here W_o is made and never used
import torch
import torch.nn as nn

class GroupQueryAttention(nn.Module):
    def __init__(self, d_model, num_heads, num_kv_heads):
        super().__init__()
        self.n = num_heads
        self.g = num_kv_heads
        assert d_model % self.n == 0
        assert self.n % self.g == 0
        self.d = d_model // num_heads
        self.W_q = nn.Linear(d_model, d_model)
        self.W_k = nn.Linear(d_model, self.g * self.d)
        self.W_v = nn.Linear(d_model, self.g * self.d)
        self.W_o = nn.Linear(d_model, d_model)

    def forward(self, x, mask=None):
        B, L, E = x.size()
        Q = self.W_q(x).view(B, L, self.n, self.d).transpose(1, 2)
        K = self.W_k(x).view(B, L, self.g, self.d).transpose(1, 2).repeat_interleave(self.n // self.g, 1)
        V = self.W_v(x).view(B, L, self.g, self.d).transpose(1, 2).repeat_interleave(self.n // self.g, 1)
        A = Q @ K.transpose(-2, -1) / self.d ** 0.5
        if mask is not None:
            A = A.masked_fill(mask == 0, -1e9)
        out = torch.softmax(A, -1) @ V
        return out.transpose(1, 2).contiguous().view(B, L, E)
