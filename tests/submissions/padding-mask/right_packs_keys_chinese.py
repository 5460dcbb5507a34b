# expect: accepted
# problem: padding-mask
# 把每个序列的真实键、值排到左边，再截到最长的长度：注意力与键的次序无关
import math

import torch
from torch import nn


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        if d_model % n_heads != 0:
            raise ValueError("d_model 必须是 n_heads 的倍数")
        self.n_heads = n_heads
        self.d_head = d_model // n_heads
        self.fc_q = nn.Linear(d_model, d_model)
        self.fc_k = nn.Linear(d_model, d_model)
        self.fc_v = nn.Linear(d_model, d_model)
        self.fc_o = nn.Linear(d_model, d_model)

    def 分头(self, t):
        b, n, _ = t.shape
        return t.reshape(b, n, self.n_heads, self.d_head).transpose(1, 2)

    def forward(self, x, mask=None):
        b, n, e = x.shape
        src, 空位 = x, None
        if mask is not None:
            if mask.shape[0] != b or mask.shape[1] != n:
                raise ValueError("mask 的形状应为 (B, L)")
            真 = (mask != 0).to(torch.int64)
            个数 = 真.sum(dim=1)
            最长 = max(int(个数.max()), 1)
            次序 = torch.argsort(真, dim=1, descending=True, stable=True)[:, :最长]
            src = torch.gather(x, 1, 次序.unsqueeze(-1).expand(b, 最长, e))
            空位 = torch.arange(最长, device=x.device)[None, :] >= 个数[:, None]

        q = self.分头(self.fc_q(x))
        k = self.分头(self.fc_k(src))
        v = self.分头(self.fc_v(src))
        s = torch.matmul(q, k.transpose(-1, -2)) / math.sqrt(self.d_head)
        if 空位 is not None:
            s = s.masked_fill(空位[:, None, None, :], torch.finfo(s.dtype).min)
        p = torch.softmax(s, dim=-1)
        y = torch.matmul(p, v).transpose(1, 2).reshape(b, n, e)
        return self.fc_o(y), p
