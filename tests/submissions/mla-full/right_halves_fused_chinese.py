# expect: accepted
# problem: mla-full
import math

import torch
from torch.nn import Linear


class MLA:
    """完整的 MLA：不继承 nn.Module；上投影融合，各部分前后相接"""

    def __init__(self, d_model, num_heads, q_lora_rank, kv_lora_rank, rope_head_dim):
        assert d_model % num_heads == 0, "头数必须整除 d_model"
        assert rope_head_dim % 2 == 0, "旋转维度必须是偶数"
        self.头数, self.宽, self.旋 = num_heads, d_model, rope_head_dim
        self.q_压缩 = Linear(d_model, q_lora_rank)
        self.q_展开 = Linear(q_lora_rank, d_model + num_heads * rope_head_dim)
        self.kv_压缩 = Linear(d_model, kv_lora_rank)
        self.k_旋转 = Linear(d_model, rope_head_dim)
        self.kv_展开 = Linear(kv_lora_rank, 2 * d_model)
        self.w_o = Linear(d_model, d_model)

    def 拆分(self, x):
        b, n, e = x.shape
        return x.reshape(b, n, self.头数, e // self.头数).transpose(1, 2)

    def 旋转(self, x, 起点):
        半 = self.旋 // 2
        频率 = torch.exp(-math.log(10000.0) / 半 * torch.arange(半, device=x.device))
        角 = torch.arange(起点, 起点 + x.shape[-2], device=x.device).float()[:, None] * 频率
        余弦, 正弦 = 角.cos().to(x.dtype), 角.sin().to(x.dtype)
        前, 后 = x[..., :半], x[..., 半:]
        return torch.cat([前 * 余弦 - 后 * 正弦, 前 * 正弦 + 后 * 余弦], dim=-1)

    def forward(self, x, cache=None):
        旧长 = 0 if cache is None else cache[0].shape[1]
        潜在, 共享键 = self.kv_压缩(x), self.旋转(self.k_旋转(x), 旧长)
        if cache is not None:
            潜在 = torch.cat([cache[0], 潜在], dim=1)  # 旧的在前
            共享键 = torch.cat([cache[1], 共享键], dim=1)
        q = self.q_展开(self.q_压缩(x))
        内容q, 旋转q = self.拆分(q[..., : self.宽]), self.拆分(q[..., self.宽 :])
        旋转q = self.旋转(旋转q, 旧长)
        k, v = (self.拆分(一半) for 一半 in self.kv_展开(潜在).chunk(2, dim=-1))
        s = 内容q @ k.transpose(2, 3) + 旋转q @ 共享键[:, None].transpose(2, 3)
        s = s / math.sqrt(内容q.shape[-1] + self.旋)
        位置 = torch.arange(k.shape[2], device=x.device)
        s = s.masked_fill(位置[None, :] > 位置[旧长:, None], -1e30)
        y = torch.matmul(torch.softmax(s, dim=-1), v).transpose(1, 2)
        return self.w_o(y.reshape(*y.shape[:2], -1)), (潜在, 共享键)


if __name__ == "__main__":
    m = MLA(16, 2, 7, 6, 4)
    y, c = m.forward(torch.randn(1, 3, 16))
    y, c = m.forward(torch.randn(1, 1, 16), c)
    assert c[0].shape == (1, 4, 6)
