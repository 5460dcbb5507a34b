# expect: accepted
# problem: alibi
"""逐个头计算；斜率用分数指数直接写出。"""

import torch


def alibi_slopes(num_heads):
    低 = 1
    while 低 * 2 <= num_heads:
        低 *= 2
    指数 = [8 * (头 + 1) / 低 for 头 in range(低)]
    指数 += [8 * (头 + 0.5) / 低 for 头 in range(num_heads - 低)]  # 夹在中间的
    return torch.tensor([2.0**-数 for 数 in 指数], dtype=torch.float32)


def alibi_attention(q, k, v, slopes, causal=True):
    批, 头数, 查询数, 维度 = q.shape
    键数 = k.shape[2]
    if 查询数 > 键数 or len(slopes) != 头数 or k.shape[3] != 维度 or v.shape[2] != 键数:
        raise ValueError("大小不符")
    查询位置 = torch.arange(键数 - 查询数, 键数, device=q.device)
    键位置 = torch.arange(键数, device=q.device)
    输出 = []
    for 头 in range(头数):
        分数 = q[:, 头] @ k[:, 头].transpose(1, 2) / 维度**0.5
        距离 = (查询位置[:, None] - 键位置[None, :]).abs()
        分数 = 分数 - slopes[头] * 距离
        if causal:
            未来 = 键位置[None, :] > 查询位置[:, None]
            分数 = 分数.masked_fill(未来, -1e9)
        输出.append(分数.softmax(-1) @ v[:, 头])
    return torch.stack(输出, dim=1)
