# expect: accepted
# problem: beam-search
"""束搜索写成一个类；每个束是一个对象。"""

import torch


class 束:
    def __init__(self, 序列, 总和, 长度, 结束):
        self.序列, self.总和, self.长度, self.结束 = 序列, 总和, 长度, 结束

    def 分数(self, alpha):
        return self.总和 / ((5 + self.长度) / 6) ** alpha


class BeamSearch:
    def __call__(self, score, prefix, beams, steps, end, alpha=0.0):
        if beams < 1 or steps < 1 or alpha < 0:
            raise ValueError("参数超出范围")
        当前 = [束(prefix, None, 0, False)]
        for _ in range(steps):
            未结束 = [个 for 个 in 当前 if not 个.结束]
            if len(未结束) == 0:
                break
            logits = score(torch.stack([个.序列 for 个 in 未结束]))
            # 半精度先转成 float32
            if logits.element_size() < 4:
                logits = logits.to(torch.float32)
            对数概率 = logits - torch.logsumexp(logits, dim=-1, keepdim=True)
            候选, 行 = [], 0
            for 个 in 当前:
                if 个.结束:
                    候选.append((个.分数(alpha), 个, None))
                    continue
                for 词 in range(logits.shape[-1]):
                    一 = 对数概率[行, 词]
                    if 一 == -float("inf"):
                        continue
                    总和 = 一 if 个.总和 is None else 个.总和 + 一
                    候选.append((总和 / ((6 + 个.长度) / 6) ** alpha, 个, (词, 总和)))
                行 += 1
            # list.sort 是稳定的：相等时保持原来的次序
            候选.sort(key=lambda 项: -float(项[0]))
            当前 = [self.延长(个, 加上, end) for _, 个, 加上 in 候选[:beams]]
        最长 = max(len(个.序列) for 个 in 当前)
        结果 = torch.full((len(当前), 最长), end, dtype=torch.int64)
        for i, 个 in enumerate(当前):
            结果[i, : len(个.序列)] = 个.序列
        return 结果, torch.stack([个.分数(alpha) for 个 in 当前])

    @staticmethod
    def 延长(个, 加上, end):
        if 加上 is None:
            return 个
        词, 总和 = 加上
        序列 = torch.cat([个.序列, torch.tensor([词])])
        return 束(序列, 总和, 个.长度 + 1, 词 == end)
