# expect: accepted
# problem: sliding-window
import math
import torch


def 平移(x, n):
    """把序列整体向后移 n 位，前面补零"""
    if n == 0:
        return x
    零 = torch.zeros_like(x[:, :, :n])
    return torch.cat([零, x[:, :, : x.size(2) - n]], dim=2)


def sliding_window_attention(query, key, value, window):
    L, d = query.size(2), query.size(3)
    w = min(window, L)
    # 逐个偏移计算分数：分数的形状为 (B, H, L, w)
    scores = torch.stack([(query * 平移(key, n)).sum(-1) for n in range(w)], dim=-1)
    scores = scores / math.sqrt(d)
    位置 = torch.arange(L, device=query.device).unsqueeze(-1)
    偏移 = torch.arange(w, device=query.device)
    scores = scores.masked_fill(偏移 > 位置, -1e9)
    weights = torch.softmax(scores, dim=-1)
    out = 0
    for n in range(w):
        out = out + weights[..., n : n + 1] * 平移(value, n)
    return out


if __name__ == "__main__":
    x = torch.randn(2, 4, 10, 16)
    print(sliding_window_attention(x, x, x, 3).shape)
