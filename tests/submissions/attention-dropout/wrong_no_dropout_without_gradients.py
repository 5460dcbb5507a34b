# expect: rejected
# problem: attention-dropout
# mistake: in training nothing is dropped where no gradients are recorded
import math
import torch
import torch.nn as nn


class MultiHeadAttention(nn.Module):
    def __init__(self, embed_dim, num_heads, dropout):
        super().__init__()
        if embed_dim % num_heads != 0:
            raise ValueError("embed_dim must be divisible by num_heads")
        self.h = num_heads
        self.d = embed_dim // num_heads
        self.embed_dim = embed_dim
        self.drop = nn.Dropout(dropout)
        self.w_q = nn.Linear(embed_dim, embed_dim)
        self.w_k = nn.Linear(embed_dim, embed_dim)
        self.w_v = nn.Linear(embed_dim, embed_dim)
        self.w_o = nn.Linear(embed_dim, embed_dim)

    def split(self, x):
        b, n, _ = x.shape
        return x.reshape(b, n, self.h, self.d).transpose(1, 2)

    def attend(self, q, k, v, mask):
        scores = torch.matmul(q, k.transpose(-2, -1)) / math.sqrt(self.d)
        if mask is not None:
            scores = scores.masked_fill(mask == 0, float("-inf"))
        weights = torch.softmax(scores, dim=-1)
        return torch.matmul(
            (self.drop(weights) if torch.is_grad_enabled() else weights), v
        ), weights

    def forward(self, q, k, v, mask=None):
        if not q.size(0) == k.size(0) == v.size(0) or k.size(1) != v.size(1):
            raise ValueError("sizes do not fit")
        q, k, v = self.split(self.w_q(q)), self.split(self.w_k(k)), self.split(self.w_v(v))
        out, weights = self.attend(q, k, v, mask)
        out = out.transpose(1, 2).reshape(out.size(0), -1, self.embed_dim)
        return self.w_o(out), weights
