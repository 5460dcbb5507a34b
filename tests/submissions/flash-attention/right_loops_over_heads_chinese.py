# expect: accepted
# problem: flash-attention
import numpy as np
import torch


def 单头(q, k, v, 块, 因果):
    """在线 softmax：q (L, D)，k (S, D)，v (S, Dv)"""
    L, D = q.shape
    m = torch.full((L,), -torch.inf, dtype=q.dtype)  # 当前最大值
    l = torch.zeros(L, dtype=q.dtype)  # 指数之和
    o = torch.zeros(L, v.shape[1], dtype=q.dtype)  # 未归一化的输出
    for j in range(int(np.ceil(len(k) / 块))):
        起, 止 = j * 块, min((j + 1) * 块, len(k))
        s = q @ k[起:止].T / np.sqrt(D).item()
        if 因果:
            s = s.masked_fill(torch.arange(起, 止)[None] > torch.arange(L)[:, None], -torch.inf)
        新m = torch.maximum(m, s.max(1)[0])
        p = torch.exp(s - 新m[:, None])
        修正 = torch.exp(m - 新m)
        l = 修正 * l + p.sum(1)
        o = 修正[:, None] * o + p @ v[起:止]
        m = 新m
    return o / l[:, None]


def flash_attention(q, k, v, block_size, causal=False):
    if block_size < 1 or len(set([k.shape[-2], v.shape[-2]])) > 1 or q.shape[-1] != k.shape[-1]:
        raise ValueError("参数不合法")
    前 = q.shape[:-2]
    qs, ks, vs = (t.reshape(-1, *t.shape[-2:]) for t in (q, k, v))
    return torch.stack([单头(a, b, c, block_size, causal) for a, b, c in zip(qs, ks, vs)]).reshape(
        *前, q.shape[-2], v.shape[-1]
    )
