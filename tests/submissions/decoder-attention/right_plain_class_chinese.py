# expect: accepted
# problem: decoder-attention
# 普通的类，参数是矩阵，逐个头循环
import math

import torch


class CachedGQA:
    """分组查询注意力：RoPE、KV 缓存、滑动窗口"""

    def __init__(self, d_model, num_heads, num_kv_heads, window=None):
        if d_model % num_heads or num_heads % num_kv_heads:
            raise ValueError("头数不能整除")
        self.头数, self.组数, self.窗口 = num_heads, num_kv_heads, window
        self.维度 = d_model // num_heads
        if self.维度 % 2 == 1:
            raise ValueError("每个头的维度必须是偶数")
        宽 = num_kv_heads * self.维度
        self.W_q = torch.nn.Parameter(torch.randn(d_model, d_model) * 0.02)
        self.W_k = torch.nn.Parameter(torch.randn(d_model, 宽) * 0.02)
        self.W_v = torch.nn.Parameter(torch.randn(d_model, 宽) * 0.02)
        self.W_o = torch.nn.Parameter(torch.randn(d_model, d_model) * 0.02)

    def 旋转(self, t, 起点):
        # t: (B, L, D)
        L, 半 = t.shape[1], self.维度 // 2
        频率 = torch.tensor([10000.0 ** (-2 * i / self.维度) for i in range(半)], device=t.device)
        角 = torch.arange(起点, 起点 + L, device=t.device, dtype=torch.float32)[:, None] * 频率
        余弦, 正弦 = torch.cos(角).to(t.dtype), torch.sin(角).to(t.dtype)
        a, b = t[..., :半], t[..., 半:]
        return torch.cat([a * 余弦 - b * 正弦, b * 余弦 + a * 正弦], dim=-1)

    def forward(self, x, cache=None):
        D = self.维度
        旧 = 0 if cache is None else cache[0].shape[2]
        q, k, v = x @ self.W_q, x @ self.W_k, x @ self.W_v
        键, 值 = [], []
        for g in range(self.组数):
            段 = slice(g * D, g * D + D)
            新键, 新值 = self.旋转(k[..., 段], 旧), v[..., 段]
            键.append(新键 if cache is None else torch.cat([cache[0][:, g], 新键], dim=1))
            值.append(新值 if cache is None else torch.cat([cache[1][:, g], 新值], dim=1))
        总 = 旧 + x.shape[1]
        距离 = torch.arange(旧, 总, device=x.device)[:, None] - torch.arange(总, device=x.device)
        可见 = (距离 >= 0) & (距离 < (总 + 1 if self.窗口 is None else self.窗口))
        输出 = []
        for h in range(self.头数):
            g = h // (self.头数 // self.组数)
            分数 = self.旋转(q[..., h * D : h * D + D], 旧) @ 键[g].mT / math.sqrt(D)
            分数 = torch.where(可见, 分数, -math.inf)
            分数 = 分数 - 分数.amax(-1, keepdim=True)
            权重 = torch.exp(分数)
            输出.append(权重 @ 值[g] / 权重.sum(-1, keepdim=True))
        return torch.cat(输出, dim=-1) @ self.W_o, (torch.stack(键, 1), torch.stack(值, 1))
