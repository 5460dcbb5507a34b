# expect: rejected
# problem: attention-dropout
# mistake: F.dropout without the training flag
# diagnosis: on-in-eval

import torch, math
import torch.nn as nn
import torch.nn.functional as F

class MultiHeadAttention(nn.Module):
    def __init__(self, embed_dim, num_heads, dropout):
        super().__init__()
        assert embed_dim % num_heads == 0
        self.h, self.d, self.p = num_heads, embed_dim // num_heads, dropout
        self.q_linear = nn.Linear(embed_dim, embed_dim)
        self.k_linear = nn.Linear(embed_dim, embed_dim)
        self.v_linear = nn.Linear(embed_dim, embed_dim)
        self.out = nn.Linear(embed_dim, embed_dim)

    def forward(self, q, k, v, mask=None):
        bs = q.size(0)
        q = self.q_linear(q).view(bs, -1, self.h, self.d).transpose(1, 2)
        k = self.k_linear(k).view(bs, -1, self.h, self.d).transpose(1, 2)
        v = self.v_linear(v).view(bs, -1, self.h, self.d).transpose(1, 2)
        scores = torch.matmul(q, k.transpose(-2, -1)) / math.sqrt(self.d)
        if mask is not None:
            scores = scores.masked_fill(mask == 0, -1e9)
        scores = F.dropout(F.softmax(scores, dim=-1), self.p)
        out = torch.matmul(scores, v).transpose(1, 2).contiguous().view(bs, -1, self.h * self.d)
        return self.out(out)
