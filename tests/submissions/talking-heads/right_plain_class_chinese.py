# expect: accepted
# problem: talking-heads
import math

import torch
import torch.nn as nn


class TalkingHeadsAttention:
    """普通的类，不继承 nn.Module；逐头计算"""

    def __init__(self, embed_dim, num_heads):
        if embed_dim % num_heads != 0:
            raise ValueError("embed_dim 必须能被 num_heads 整除")
        self.头数, self.头维 = num_heads, embed_dim // num_heads
        self.w_q = nn.Linear(embed_dim, embed_dim)
        self.w_k = nn.Linear(embed_dim, embed_dim)
        self.w_v = nn.Linear(embed_dim, embed_dim)
        self.logits_mix = nn.Linear(num_heads, num_heads, bias=False)  # softmax 之前
        self.weights_mix = nn.Linear(num_heads, num_heads, bias=False)  # softmax 之后
        self.w_o = nn.Linear(embed_dim, embed_dim)

    def forward(self, x, mask=None):
        q, k, v = (m(x).split(self.头维, dim=-1) for m in (self.w_q, self.w_k, self.w_v))
        # 每个头的分数 (B, L, L)，叠在最后一维
        分数 = torch.stack([a @ b.transpose(1, 2) / math.sqrt(self.头维) for a, b in zip(q, k)], -1)
        分数 = self.logits_mix(分数)
        if mask is not None:
            while mask.dim() < 4:
                mask = mask.unsqueeze(0)
            分数 = 分数.masked_fill(mask.permute(0, 2, 3, 1) == 0, float("-inf"))
        权重 = self.weights_mix(torch.softmax(分数, dim=2))
        各头 = [权重[..., h] @ v[h] for h in range(self.头数)]
        return self.w_o(torch.cat(各头, dim=-1))
