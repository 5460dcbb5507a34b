# expect: accepted
# problem: fused-qkv
import torch
import torch.nn as nn


class FusedSelfAttention:
    """融合投影：一次矩阵乘法得到 q、k、v，然后逐头计算"""

    def __init__(self, num_heads, d_model):
        if d_model % num_heads != 0:
            raise ValueError("d_model 必须能被 num_heads 整除")
        self.num_heads = num_heads
        self.W_qkv = nn.Linear(d_model, 3 * d_model)
        self.W_o = nn.Linear(d_model, d_model)

    def __call__(self, x, mask=None):
        q, k, v = self.W_qkv(x).chunk(3, dim=-1)
        结果 = []
        for i, (qi, ki, vi) in enumerate(
            zip(*(t.chunk(self.num_heads, dim=-1) for t in (q, k, v)), strict=True)
        ):
            分数 = qi @ ki.transpose(1, 2) / qi.shape[-1] ** 0.5
            if mask is not None:
                掩码 = mask if mask.dim() == 2 else mask[:, i if mask.shape[1] > 1 else 0]
                分数 = 分数.masked_fill(掩码 == 0, float("-inf"))
            结果.append(分数.softmax(-1) @ vi)
        return self.W_o(torch.cat(结果, dim=-1))


if __name__ == "__main__":
    print(FusedSelfAttention(4, 32)(torch.randn(2, 5, 32)).shape)
