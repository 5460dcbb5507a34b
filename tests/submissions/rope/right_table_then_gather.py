# expect: accepted
# problem: rope
# 先建一张足够长的表，再按位置取行
import torch


def 建表(最大位置, 维度, base):
    频率 = 1.0 / base ** (torch.arange(0, 维度, 2, dtype=torch.float64) / 维度)
    角度 = torch.arange(最大位置 + 1, dtype=torch.float64)[:, None] * 频率[None, :]
    return torch.cos(角度), torch.sin(角度)


def apply_rope(x, positions, base=10000.0):
    D = x.shape[-1]
    if D % 2 != 0 or len(positions) != x.shape[2]:
        raise ValueError("D 必须是偶数，且每个 token 要有一个位置")
    cos表, sin表 = 建表(int(positions.max()), D, base)
    cos, sin = cos表[positions.long()].to(x.dtype), sin表[positions.long()].to(x.dtype)
    前, 后 = x.split(D // 2, dim=-1)
    return torch.cat((前 * cos - 后 * sin, 前 * sin + 后 * cos), dim=-1)
