# expect: accepted
# problem: sparse-attention
import torch


def sparse_mask(length, window, stride, num_global):
    """逐条对角线画出稀疏模式"""
    掩码 = torch.zeros(length, length, dtype=torch.int64)
    if stride < 1:
        raise ValueError("步长必须为正")
    for 距离 in range(length):
        if 距离 <= window or 距离 % stride == 0:
            对角线 = torch.ones(length - 距离, dtype=torch.int64)
            掩码 = 掩码 + torch.diag(对角线, 距离) + torch.diag(对角线, -距离)
    掩码[:num_global] = 1  # 全局位置看所有位置
    掩码[:, :num_global] = 1  # 所有位置看全局位置
    return 掩码 > 0


def sparse_attention(q, k, v, mask):
    """手写的稳定 softmax"""
    分数 = q @ k.transpose(-1, -2) * (q.size(-1) ** -0.5)
    分数 = 分数.masked_fill(torch.logical_not(mask), float("-inf"))
    最大 = 分数.amax(dim=-1, keepdim=True).clamp(min=torch.finfo(分数.dtype).min)
    指数 = torch.exp(分数 - 最大)
    return 指数 @ v / 指数.sum(-1, keepdim=True)


if __name__ == "__main__":
    print(sparse_mask(8, 1, 3, 1).int())
