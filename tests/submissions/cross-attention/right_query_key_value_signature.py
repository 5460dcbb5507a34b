# expect: accepted
# problem: cross-attention
import torch
import torch.nn as nn
import torch.nn.functional as F


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, n_heads, kdim):
        super().__init__()
        assert d_model % n_heads == 0
        self.n_heads, self.d_k = n_heads, d_model // n_heads
        self.query = nn.Linear(d_model, d_model)
        self.key = nn.Linear(kdim, d_model)
        self.value = nn.Linear(kdim, d_model)
        self.fc_out = nn.Linear(d_model, d_model)

    def forward(self, query, key, value, mask=None):
        N = query.shape[0]
        Q = self.query(query).view(N, -1, self.n_heads, self.d_k).permute(0, 2, 1, 3)
        K = self.key(key).view(N, -1, self.n_heads, self.d_k).permute(0, 2, 1, 3)
        V = self.value(value).view(N, -1, self.n_heads, self.d_k).permute(0, 2, 1, 3)
        scores = Q @ K.transpose(-2, -1) / self.d_k**0.5
        if mask is not None:
            scores = scores.masked_fill(mask[:, None, None, :] == 0, -1e9)
        attn = F.softmax(scores, dim=-1)
        x = (attn @ V).transpose(1, 2).contiguous().view(N, -1, self.n_heads * self.d_k)
        return self.fc_out(x)
