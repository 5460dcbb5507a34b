# expect: accepted
# problem: mla
import math

import torch
from torch.nn import Linear


class MLA:
    """多头潜在注意力：只缓存压缩后的潜在向量，不继承 nn.Module"""

    def __init__(self, d_model, num_heads, kv_lora_rank):
        assert d_model % num_heads == 0, "头数必须整除 d_model"
        self.num_heads = num_heads
        self.w_q = Linear(d_model, d_model)
        self.w_down_kv = Linear(d_model, kv_lora_rank)
        self.w_up_kv = Linear(kv_lora_rank, 2 * d_model)  # 键和值一次算出
        self.w_o = Linear(d_model, d_model)

    def 拆分(self, x):
        b, n, e = x.shape
        return x.reshape(b, n, self.num_heads, e // self.num_heads).transpose(1, 2)

    def forward(self, x, cache=None):
        潜在 = self.w_down_kv(x)
        if cache is not None:
            潜在 = torch.cat([cache, 潜在], dim=1)  # 旧的在前
        键, 值 = self.w_up_kv(潜在).chunk(2, dim=-1)
        q, k, v = self.拆分(self.w_q(x)), self.拆分(键), self.拆分(值)
        总长, 新长 = k.shape[2], q.shape[2]
        位置 = torch.arange(总长, device=x.device)
        不可见 = 位置[None, :] > 位置[总长 - 新长 :, None]
        s = torch.matmul(q, k.transpose(2, 3)) / math.sqrt(q.shape[-1])
        w = torch.softmax(s.masked_fill(不可见, -1e30), dim=-1)
        y = torch.matmul(w, v).transpose(1, 2)
        return self.w_o(y.reshape(*y.shape[:2], -1)), 潜在


if __name__ == "__main__":
    m = MLA(16, 2, 6)
    y, c = m.forward(torch.randn(1, 3, 16))
    y, c = m.forward(torch.randn(1, 1, 16), c)
    print(c.shape)
