# expect: accepted
# problem: mhsa
import numpy as np
import torch
import torch.nn as nn


class MultiHeadSelfAttention:
    """多头自注意力（普通类，不继承 nn.Module，头数在前）"""

    def __init__(self, num_heads, num_hiddens):
        if num_hiddens % num_heads != 0:
            raise ValueError("num_hiddens 必须能被 num_heads 整除")
        self.num_heads = num_heads
        self.W_q = nn.Linear(num_hiddens, num_hiddens)
        self.W_k = nn.Linear(num_hiddens, num_hiddens)
        self.W_v = nn.Linear(num_hiddens, num_hiddens)
        self.W_o = nn.Linear(num_hiddens, num_hiddens)

    def 拆分(self, x):
        return torch.stack(x.chunk(self.num_heads, dim=-1), dim=1)  # (批, 头, 长度, 维度)

    def __call__(self, x, mask=None):
        q, k, v = self.拆分(self.W_q(x)), self.拆分(self.W_k(x)), self.拆分(self.W_v(x))
        分数 = q.matmul(k.mT) / float(np.sqrt(q.shape[-1]))
        if mask is not None:
            分数 = 分数.masked_fill(mask == 0, -1e20)
        权重 = 分数.softmax(-1)
        结果 = torch.cat(权重.matmul(v).unbind(1), dim=-1)
        return [self.W_o(结果), 权重]


if __name__ == "__main__":
    print(MultiHeadSelfAttention(4, 32)(torch.randn(2, 5, 32))[0].shape)
