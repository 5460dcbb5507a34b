# expect: rejected
# problem: gqa
# mistake: 10000 is subtracted where a key is blocked
# diagnosis: mask-bias-too-small
import torch
import torch.nn.functional as F
from torch import nn


class GQA(nn.Module):
    def __init__(self, embed_dim, num_heads, num_kv_heads):
        super().__init__()
        if embed_dim % num_heads or num_heads % num_kv_heads:
            raise ValueError("heads do not divide")
        self.h, self.g = num_heads, num_kv_heads
        self.d = embed_dim // num_heads
        self.W_q = nn.Linear(embed_dim, num_heads * self.d, bias=False)
        self.W_k = nn.Linear(embed_dim, num_kv_heads * self.d, bias=False)
        self.W_v = nn.Linear(embed_dim, num_kv_heads * self.d, bias=False)
        self.W_o = nn.Linear(embed_dim, embed_dim, bias=False)

    def forward(self, x, mask=None):
        b, n, _ = x.shape
        q = self.W_q(x).view(b, n, self.h, self.d).transpose(1, 2)
        k = self.W_k(x).view(b, n, self.g, self.d).transpose(1, 2)
        v = self.W_v(x).view(b, n, self.g, self.d).transpose(1, 2)
        k = torch.repeat_interleave(k, self.h // self.g, dim=1)
        v = torch.repeat_interleave(v, self.h // self.g, dim=1)
        scores = torch.matmul(q, k.transpose(-1, -2)) * self.d**-0.5
        if mask is not None:
            scores = scores + (1.0 - mask.to(scores.dtype)) * -10000.0
        out = torch.matmul(F.softmax(scores, dim=-1), v)
        return self.W_o(out.transpose(1, 2).contiguous().view(b, n, -1))


GroupedQueryAttention = GQA
