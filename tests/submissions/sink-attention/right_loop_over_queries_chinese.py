# expect: accepted
# problem: sink-attention
import math
import torch


def 均方根归一化(x, 权重):
    # 每个向量各自归一化，ε 在根号之内
    均方 = (x * x).sum(-1, keepdim=True) / x.size(-1)
    return x / torch.sqrt(均方 + 1e-6) * 权重


def sink_attention(query, key, value, sinks, window=None, q_weight=None, k_weight=None):
    H, L, D = query.size(1), query.size(2), query.size(3)
    G, S = key.size(1), key.size(2)
    if H % G != 0:
        raise ValueError("键头数必须整除查询头数")
    if key.size(2) != value.size(2) or sinks.size(0) != H:
        raise ValueError("形状不一致")
    if q_weight is not None:
        query, key = 均方根归一化(query, q_weight), 均方根归一化(key, k_weight)
    每组 = H // G
    key = torch.cat([key[:, g : g + 1].expand(-1, 每组, -1, -1) for g in range(G)], dim=1)
    value = torch.cat([value[:, g : g + 1].expand(-1, 每组, -1, -1) for g in range(G)], dim=1)
    结果 = []
    for i in range(L):
        末 = S - L + i  # 这个查询所在的位置
        首 = 0 if window is None else max(0, 末 - window + 1)
        if 末 < 0:  # 前面没有任何键，权重全归 sink
            结果.append(query[:, :, i] * 0)
            continue
        分数 = (query[:, :, i : i + 1] * key[:, :, 首 : 末 + 1]).sum(-1) / math.sqrt(D)
        全部 = torch.cat([sinks.view(1, H, 1).expand(分数.size(0), H, 1), 分数], dim=-1)
        权重 = torch.softmax(全部, dim=-1)[..., 1:]
        结果.append((权重.unsqueeze(-1) * value[:, :, 首 : 末 + 1]).sum(2))
    return torch.stack(结果, dim=2)
