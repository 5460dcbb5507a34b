# expect: accepted
# problem: dual-attention
import math

import torch


def dual_attention(查询, 键, 值, 距离嵌入, 内容偏置, 位置偏置):
    """逐个查询计算：第 i 个查询看到前 p + 1 个键，距离依次为 p、p − 1、…、0"""
    L, S, D = 查询.size(2), 键.size(2), 查询.size(3)
    if not D == 键.size(3) == 距离嵌入.size(2) or not S == 值.size(2) == 距离嵌入.size(1):
        raise ValueError("大小不一致")
    输出 = []
    for i in range(L):
        可见 = S - L + i + 1
        问内容 = 查询[:, :, i] + 内容偏置  # (B, H, D)
        问位置 = 查询[:, :, i] + 位置偏置
        内容分 = (问内容.unsqueeze(2) * 键[:, :, :可见]).sum(-1)
        位置分 = torch.matmul(问位置.unsqueeze(2), 距离嵌入[:, S - 可见 :].transpose(1, 2)).squeeze(2)
        权重 = torch.softmax((内容分 + 位置分) / math.sqrt(D), dim=-1)
        输出.append((权重.unsqueeze(-1) * 值[:, :, :可见]).sum(2))
    return torch.stack(输出, dim=2)
