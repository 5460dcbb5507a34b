# expect: rejected
# problem: masked-mha
# mistake: divides by D
# diagnosis: scale-by-head-dim
import torch
from torch import nn


class MultiHeadedAttention(nn.Module):
    # 多头注意力
    def __init__(self, h, d_model, dropout=0.1):
        super(MultiHeadedAttention, self).__init__()
        assert d_model % h == 0
        self.h, self.d_k = h, d_model // h
        self.wq = nn.Linear(d_model, d_model)
        self.wk = nn.Linear(d_model, d_model)
        self.wv = nn.Linear(d_model, d_model)
        self.wo = nn.Linear(d_model, d_model)
        self.drop = nn.Dropout(dropout)

    def forward(self, query, key, value, mask=None):
        b, lq, lk = query.size(0), query.size(1), key.size(1)
        Q = self.wq(query).reshape(b, lq, self.h, self.d_k).permute(0, 2, 1, 3)
        K = self.wk(key).reshape(b, lk, self.h, self.d_k).permute(0, 2, 1, 3)
        V = self.wv(value).reshape(b, lk, self.h, self.d_k).permute(0, 2, 1, 3)
        # 计算注意力分数
        score = Q @ K.permute(0, 1, 3, 2) / self.d_k
        if mask is not None:
            score = score.masked_fill(mask == 0, torch.finfo(score.dtype).min)
        p = torch.softmax(score, dim=-1)
        p = self.drop(p)
        x = (p @ V).permute(0, 2, 1, 3).reshape(b, lq, self.h * self.d_k)
        return self.wo(x), p
