# expect: accepted
# problem: sdpa
import math
import torch
import torch.nn as nn


class ScaleDotProductAttention(nn.Module):
    """
    缩放点积注意力
    Query : 当前关注的句子（解码器）
    Key   : 用来与 Query 计算相关性的句子（编码器）
    Value : 与 Key 对应的句子（编码器）
    """

    def __init__(self):
        super(ScaleDotProductAttention, self).__init__()
        self.softmax = nn.Softmax(dim=-1)

    def forward(self, q, k, v, mask=None, e=1e-12):
        d_tensor = k.shape[-1]

        # 1. Query 与 Key 转置做点积，计算相似度
        score = (q @ k.transpose(-2, -1)) / math.sqrt(d_tensor)  # 缩放点积

        # 2. 应用掩码（可选），0 表示不可见
        if mask is not None:
            score = score.masked_fill(mask == 0, torch.finfo(score.dtype).min)

        # 3. 通过 softmax 归一化到 [0, 1]
        score = self.softmax(score)

        # 4. 乘以 Value
        v = score @ v

        return v, score


if __name__ == "__main__":
    # 简单测试
    x = torch.randn(2, 4, 10, 16)
    输出, 权重 = ScaleDotProductAttention()(x, x, x)
    print(输出.shape, 权重.shape)
