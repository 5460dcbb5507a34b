# expect: rejected
# problem: sink-attention
# mistake: the first sink of a group serves all of its heads
# diagnosis: sink-by-key-head
import torch


def sink_attention(查询, 键, 值, 汇, 窗口=None, 查询权重=None, 键权重=None):
    B, H, L, D = 查询.shape
    G, S = 键.shape[1:3]
    if 查询权重 is not None:
        查询 = 查询 / (查询.square().mean(-1, keepdim=True) + 1e-6).sqrt() * 查询权重
        键 = 键 / (键.square().mean(-1, keepdim=True) + 1e-6).sqrt() * 键权重
    查询 = 查询.reshape(B, G, H // G, L, D)
    分数 = 查询 @ 键.unsqueeze(2).mT / D**0.5
    距离 = torch.arange(S - L, S).unsqueeze(1) - torch.arange(S)
    屏蔽 = 距离 < 0
    if 窗口 is not None:
        屏蔽 |= 距离 >= 窗口
    分数 = 分数.masked_fill(屏蔽, -1e30)
    汇 = 汇.reshape(G, H // G)[:, 0].view(G, 1, 1, 1)  # 每组取一个
    门 = torch.sigmoid(分数.logsumexp(-1, keepdim=True) - 汇)
    return (分数.softmax(-1) @ 值.unsqueeze(2) * 门).reshape(B, H, L, D)
