# expect: rejected
# problem: beam-search
# mistake: the softmax underflows before its logarithm is taken
# diagnosis: log-of-softmax
"""先求概率，再取对数：概率太小时变成 0。"""

import torch


def beam_search(score, prefix, beams, steps, end, alpha=0.0):
    if beams < 1 or steps < 1 or alpha < 0:
        raise ValueError("参数超出范围")
    所有束 = [(list(prefix.tolist()), 0.0, False)]
    起点 = len(prefix)

    def 分数(束):
        return 束[1] / ((5 + len(束[0]) - 起点) / 6) ** alpha

    for _ in range(steps):
        活着 = [束[0] for 束 in 所有束 if not 束[2]]
        if not 活着:
            break
        logits = score(torch.tensor(活着))
        类型 = torch.promote_types(logits.dtype, torch.float32)
        概率 = torch.softmax(logits.to(类型), dim=-1)
        表 = iter(torch.log(概率).tolist())
        候选 = []
        for 束 in 所有束:
            if 束[2]:
                候选.append(束)
                continue
            for 词, 对数 in enumerate(next(表)):
                if 对数 != float("-inf"):
                    候选.append((束[0] + [词], 束[1] + 对数, 词 == end))
        所有束 = sorted(候选, key=分数, reverse=True)[:beams]
    宽 = max(len(束[0]) for 束 in 所有束)
    行 = [束[0] + [end] * (宽 - len(束[0])) for 束 in 所有束]
    return torch.tensor(行), torch.tensor([分数(束) for 束 in 所有束], dtype=类型)
