# expect: accepted
# problem: relative-bias
import math

import torch
from torch.nn import Embedding, Linear


class RelativeAttention:
    """相对位置偏置，逐个位置对查表；不继承 nn.Module"""

    def __init__(self, d_model, num_heads, max_distance):
        assert d_model % num_heads == 0, "头数必须整除 d_model"
        self.num_heads = num_heads
        self.m = max_distance
        self.w_q = Linear(d_model, d_model)
        self.w_k = Linear(d_model, d_model)
        self.w_v = Linear(d_model, d_model)
        self.w_o = Linear(d_model, d_model)
        self.偏置表 = Embedding(2 * max_distance + 1, num_heads)

    def 拆分(self, x):
        b, n, e = x.shape
        return x.reshape(b, n, self.num_heads, e // self.num_heads).transpose(1, 2)

    def forward(self, x):
        n = x.shape[1]
        行号 = torch.zeros(n, n, dtype=torch.long)
        for i in range(n):
            for j in range(n):
                行号[i, j] = max(-self.m, min(self.m, j - i)) + self.m
        偏置 = self.偏置表(行号)  # (n, n, H)
        q, k, v = self.拆分(self.w_q(x)), self.拆分(self.w_k(x)), self.拆分(self.w_v(x))
        s = torch.matmul(q, k.transpose(2, 3)) / math.sqrt(q.shape[-1])
        s = s + 偏置.permute(2, 0, 1)
        w = torch.exp(s - torch.logsumexp(s, dim=-1, keepdim=True))
        y = torch.matmul(w, v).transpose(1, 2)
        return self.w_o(y.reshape(*y.shape[:2], -1))


if __name__ == "__main__":
    print(RelativeAttention(16, 2, 3).forward(torch.randn(1, 5, 16)).shape)
