# expect: accepted
# problem: dual-attention
"""Sixteen queries at a time, for which the vectors of r may be gathered."""

import math

import torch


def dual_attention(q, k, v, r, content_bias, position_bias):
    D, L, S = q.shape[-1], q.shape[-2], k.shape[-2]
    if k.shape[-1] != D or r.shape[-1] != D or v.shape[-2] != S or r.shape[-2] != S:
        raise ValueError("sizes")
    blocks = []
    for start in range(0, L, 16):
        block = q[:, :, start : start + 16]
        places = torch.arange(start, start + block.shape[2], device=q.device) + S - L
        distance = places[:, None] - torch.arange(S, device=q.device)
        vectors = r[:, S - 1 - distance.clamp(min=0)]  # (H, 16, S, D)
        biased = block + position_bias[:, None]
        position = (biased.transpose(0, 1).transpose(1, 2) @ vectors.mT).permute(2, 0, 1, 3)
        scores = ((block + content_bias[:, None]) @ k.mT + position) / math.sqrt(D)
        blocks.append(scores.masked_fill(distance < 0, -math.inf).softmax(-1) @ v)
    return torch.cat(blocks, dim=2)
