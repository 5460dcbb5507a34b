# expect: accepted
# problem: linformer
import math

import torch
from torch.nn import Linear


class Linformer:
    """沿长度方向压缩键和值；不继承 nn.Module"""

    def __init__(self, d_model, num_heads, seq_len, k):
        assert d_model % num_heads == 0, "头数必须整除 d_model"
        self.num_heads = num_heads
        self.w_q = Linear(d_model, d_model)
        self.w_k = Linear(d_model, d_model)
        self.w_v = Linear(d_model, d_model)
        self.键压缩 = Linear(seq_len, k)
        self.值压缩 = Linear(seq_len, k)
        self.w_o = Linear(d_model, d_model)

    def 拆分(self, x):
        b, n, e = x.shape
        return x.reshape(b, n, self.num_heads, e // self.num_heads).transpose(1, 2)

    def forward(self, x):
        k = self.键压缩(self.w_k(x).permute(0, 2, 1)).permute(0, 2, 1)  # (b, k, e)
        v = self.值压缩(self.w_v(x).permute(0, 2, 1)).permute(0, 2, 1)
        q, k, v = self.拆分(self.w_q(x)), self.拆分(k), self.拆分(v)
        s = torch.matmul(q, k.transpose(2, 3)) / math.sqrt(q.shape[-1])
        y = torch.matmul(torch.softmax(s, dim=-1), v).transpose(1, 2)
        return self.w_o(y.reshape(*y.shape[:2], -1))


if __name__ == "__main__":
    print(Linformer(16, 2, 12, 4).forward(torch.randn(1, 12, 16)).shape)
