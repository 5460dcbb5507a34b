# expect: accepted
# problem: linear-attention
import torch
import torch.nn.functional as F


def linear_attention(查询, 键, 值, causal=False):
    """把批和头合并成一维，再用 bmm"""
    批, 头, 长度, 维度 = 查询.shape
    assert 查询.shape == 键.shape
    q = (F.elu(查询) + 1).reshape(批 * 头, 长度, 维度)
    k = (F.elu(键) + 1).reshape(批 * 头, 长度, 维度)
    v = 值.reshape(批 * 头, 长度, 维度)
    if causal:
        # 外积的前缀和
        kv = torch.cumsum(k.unsqueeze(-1) * v.unsqueeze(-2), dim=1)
        分子 = torch.matmul(q.unsqueeze(-2), kv).squeeze(-2)
        分母 = (q * torch.cumsum(k, dim=1)).sum(-1, keepdim=True)
    else:
        分子 = torch.bmm(q, torch.bmm(k.transpose(1, 2), v))
        分母 = torch.bmm(q, k.sum(1).unsqueeze(-1))
    return (分子 / 分母).reshape(批, 头, 长度, 维度)


if __name__ == "__main__":
    x = torch.randn(2, 4, 10, 8)
    print(linear_attention(x, x, x, True).shape)
