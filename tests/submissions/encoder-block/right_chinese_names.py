# expect: accepted
# problem: encoder-block
import torch
from torch import nn


class 层归一化(nn.Module):
    def __init__(self, 维度):
        super().__init__()
        self.缩放 = nn.Parameter(torch.ones(维度))
        self.平移 = nn.Parameter(torch.zeros(维度))

    def forward(self, x):
        均值 = x.mean(-1, keepdim=True)
        方差 = x.var(-1, keepdim=True, unbiased=False)
        return self.缩放 * (x - 均值) / (方差 + 1e-5) ** 0.5 + self.平移


class 多头注意力(nn.Module):
    def __init__(self, 维度, 头数):
        super().__init__()
        assert 维度 % 头数 == 0, "头数必须整除维度"
        self.头数 = 头数
        self.值投影 = nn.Linear(维度, 维度)
        self.键投影 = nn.Linear(维度, 维度)
        self.查询投影 = nn.Linear(维度, 维度)
        self.输出投影 = nn.Linear(维度, 维度)

    def 分头(self, x):
        return x.reshape(x.shape[0], x.shape[1], self.头数, -1).transpose(1, 2)

    def forward(self, x, 掩码):
        q = self.分头(self.查询投影(x))
        k = self.分头(self.键投影(x))
        v = self.分头(self.值投影(x))
        分数 = q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5
        if 掩码 is not None:
            分数 = 分数.masked_fill(掩码 == 0, float("-inf"))
        结果 = torch.softmax(分数, dim=-1) @ v
        return self.输出投影(结果.transpose(1, 2).reshape(x.shape))


class EncoderBlock(nn.Module):
    def __init__(self, embed_dim, num_heads, ffn_dim):
        super().__init__()
        self.注意力 = 多头注意力(embed_dim, num_heads)
        self.归一化一 = 层归一化(embed_dim)
        self.前馈 = nn.Sequential(
            nn.Linear(embed_dim, ffn_dim), nn.ReLU(), nn.Linear(ffn_dim, embed_dim)
        )
        self.归一化二 = 层归一化(embed_dim)

    def forward(self, x, mask=None):
        x = self.归一化一(x + self.注意力(x, mask))
        return self.归一化二(x + self.前馈(x))
