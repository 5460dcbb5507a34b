# expect: rejected
# problem: pre-norm-block
# mistake: values are turned too
# diagnosis: values-turned
import math

import torch


def 均方根归一化(x, 权重):
    宽 = x.to(torch.float32) if x.dtype in (torch.float16, torch.bfloat16) else x
    均方 = (宽 * 宽).sum(-1, keepdim=True) / x.shape[-1]
    return (宽 / torch.sqrt(均方 + 1e-6) * 权重).to(x.dtype)


def 旋转(头):
    # 头：(B, L, D)，第 i 与 i + D/2 个特征转过 位置 · 10000^(−2i/D)
    长, 维 = 头.shape[1:]
    一半 = 维 // 2
    频率 = torch.tensor([10000 ** (-2 * i / 维) for i in range(一半)], device=头.device, dtype=torch.float32)
    角 = torch.arange(长, device=头.device, dtype=torch.float32)[:, None] * 频率
    余弦, 正弦 = 角.cos().to(头.dtype), 角.sin().to(头.dtype)
    前, 后 = 头[..., :一半], 头[..., 一半:]
    return torch.cat([前 * 余弦 - 后 * 正弦, 后 * 余弦 + 前 * 正弦], -1)


class PreNormBlock:
    def __init__(self, embed_dim, num_heads, num_kv_heads, ffn_dim):
        if embed_dim % num_heads != 0 or num_heads % num_kv_heads != 0:
            raise ValueError("头数不能整除")
        self.d = embed_dim // num_heads
        if self.d % 2 == 1:
            raise ValueError("头的维度是奇数")
        self.h, self.g = num_heads, num_kv_heads
        self.W_q = torch.randn(embed_dim, embed_dim)
        self.W_k = torch.randn(embed_dim, self.g * self.d)
        self.W_v = torch.randn(embed_dim, self.g * self.d)
        self.W_o = torch.randn(embed_dim, embed_dim)
        self.W_gate = torch.randn(embed_dim, ffn_dim)
        self.W_up = torch.randn(embed_dim, ffn_dim)
        self.W_down = torch.randn(ffn_dim, embed_dim)
        self.norm1_weight = torch.ones(embed_dim)
        self.norm2_weight = torch.ones(embed_dim)

    def __call__(self, x):
        y = x + self.注意力(均方根归一化(x, self.norm1_weight))
        z = 均方根归一化(y, self.norm2_weight)
        门 = z @ self.W_gate
        return y + (门 / (1 + torch.exp(-门)) * (z @ self.W_up)) @ self.W_down

    def 注意力(self, x):
        q, k, v = x @ self.W_q, x @ self.W_k, x @ self.W_v
        各头 = []
        for h in range(self.h):
            组 = h // (self.h // self.g)
            qh = 旋转(q[..., h * self.d : (h + 1) * self.d])
            kg = 旋转(k[..., 组 * self.d : (组 + 1) * self.d])
            vg = 旋转(v[..., 组 * self.d : (组 + 1) * self.d])
            行 = []
            for p in range(x.shape[1]):
                分数 = torch.einsum("bd,bsd->bs", qh[:, p], kg[:, : p + 1]) / math.sqrt(self.d)
                权 = torch.softmax(分数, -1)
                行.append(torch.einsum("bs,bsd->bd", 权, vg[:, : p + 1]))
            各头.append(torch.stack(行, 1))
        return torch.cat(各头, -1) @ self.W_o
