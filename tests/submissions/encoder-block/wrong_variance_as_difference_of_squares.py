# expect: rejected
# problem: encoder-block
# mistake: the variance is E[x²] − mean², which cancels where the mean is large
import math
import torch
import torch.nn as nn


class Attention(nn.Module):
    def __init__(self, embed_dim, num_heads):
        super().__init__()
        if embed_dim % num_heads:
            raise ValueError("heads do not divide")
        self.h, self.d = num_heads, embed_dim // num_heads
        self.q_proj = nn.Linear(embed_dim, embed_dim)
        self.k_proj = nn.Linear(embed_dim, embed_dim)
        self.v_proj = nn.Linear(embed_dim, embed_dim)
        self.out_proj = nn.Linear(embed_dim, embed_dim)

    def split(self, x):
        b, n, _ = x.shape
        return x.reshape(b, n, self.h, self.d).transpose(1, 2)

    def forward(self, x, context, mask=None):
        q, k, v = (
            self.split(self.q_proj(x)),
            self.split(self.k_proj(context)),
            self.split(self.v_proj(context)),
        )
        scores = q @ k.transpose(-1, -2) / math.sqrt(self.d)
        if mask is not None:
            scores = scores.masked_fill(mask == 0, float("-inf"))
        out = torch.softmax(scores, dim=-1) @ v
        return self.out_proj(out.transpose(1, 2).reshape(x.shape))


class Norm(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.gamma = nn.Parameter(torch.ones(n))
        self.beta = nn.Parameter(torch.zeros(n))

    def forward(self, x):
        mean = x.mean(-1, keepdim=True)
        var = (x * x).mean(-1, keepdim=True) - mean * mean
        y = (x - mean) / torch.sqrt(var.clamp(min=0) + 1e-5)
        return self.gamma * y + self.beta


class EncoderBlock(nn.Module):
    def __init__(self, embed_dim, num_heads, ffn_dim):
        super().__init__()
        self.attention = Attention(embed_dim, num_heads)
        self.norm1 = Norm(embed_dim)
        self.fc1 = nn.Linear(embed_dim, ffn_dim)
        self.fc2 = nn.Linear(ffn_dim, embed_dim)
        self.norm2 = Norm(embed_dim)

    def forward(self, x, mask=None):
        y = self.norm1(x + self.attention(x, x, mask))
        return self.norm2(y + self.fc2(torch.relu(self.fc1(y))))
