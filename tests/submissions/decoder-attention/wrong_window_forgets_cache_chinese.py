# expect: rejected
# problem: decoder-attention
# mistake: 窗口只按这一段内的位置计算，缓存全部可见
# diagnosis: window-from-chunk-start
import math

import torch
from torch import nn


class CausalGQA(nn.Module):
    """带 RoPE 和缓存的分组查询注意力"""

    def __init__(self, embed_dim, num_heads, num_kv_heads, window=None):
        super().__init__()
        if embed_dim % num_heads or num_heads % num_kv_heads or embed_dim // num_heads % 2:
            raise ValueError("大小不匹配")
        self.头数, self.组数, self.窗口 = num_heads, num_kv_heads, window
        self.维 = embed_dim // num_heads
        self.q_proj = nn.Linear(embed_dim, embed_dim)
        self.k_proj = nn.Linear(embed_dim, num_kv_heads * self.维)
        self.v_proj = nn.Linear(embed_dim, num_kv_heads * self.维)
        self.o_proj = nn.Linear(embed_dim, embed_dim)

    def 旋转(self, x, 位置):
        频率 = 10000 ** (-torch.arange(0, self.维, 2, device=x.device) / self.维)
        角 = 位置[:, None] * 频率
        余弦, 正弦 = 角.cos().to(x.dtype), 角.sin().to(x.dtype)
        前, 后 = x.chunk(2, dim=-1)
        return torch.cat([前 * 余弦 - 后 * 正弦, 后 * 余弦 + 前 * 正弦], dim=-1)

    def forward(self, x, cache=None):
        B, L, E = x.shape
        旧 = 0 if cache is None else cache[0].shape[2]
        位置 = torch.arange(旧, 旧 + L, device=x.device)
        q = self.旋转(self.q_proj(x).view(B, L, self.头数, self.维).transpose(1, 2), 位置)
        k = self.旋转(self.k_proj(x).view(B, L, self.组数, self.维).transpose(1, 2), 位置)
        v = self.v_proj(x).view(B, L, self.组数, self.维).transpose(1, 2)
        if cache is not None:
            k, v = torch.cat([cache[0], k], 2), torch.cat([cache[1], v], 2)
        每组 = self.头数 // self.组数
        分数 = q @ k.repeat_interleave(每组, 1).mT / math.sqrt(self.维)
        行, 列 = torch.arange(L, device=x.device)[:, None], torch.arange(旧 + L, device=x.device)
        屏蔽 = 列 > 行 + 旧
        if self.窗口 is not None:
            屏蔽 = 屏蔽 | (列 <= 行 - self.窗口)
        权重 = 分数.masked_fill(屏蔽, -math.inf).softmax(-1)
        y = 权重 @ v.repeat_interleave(每组, 1)
        return self.o_proj(y.transpose(1, 2).reshape(B, L, E)), (k, v)
