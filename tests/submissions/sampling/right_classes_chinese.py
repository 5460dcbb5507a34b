# expect: accepted
# problem: sampling
"""先过滤，再抽样；过滤器各写成一个方法。"""

import torch


class LogitsFilter:
    def __call__(self, logits, temp=1.0, k=None, p=None, min_p=None):
        self.检查(temp, k, p, min_p)
        if temp == 0:
            最大 = logits.max(dim=-1, keepdim=True).values
            等于 = (logits == 最大).to(torch.int64)
            第一个 = (等于.cumsum(-1) == 1) & (等于 == 1)  # 相等时只取 id 最小的
            return 第一个.to(logits.dtype)
        # 半精度先转成 float32
        分数 = logits.to(torch.float64 if logits.dtype == torch.float64 else torch.float32) / temp
        留下 = torch.ones_like(分数, dtype=torch.bool)
        if k is not None:
            降序 = 分数.sort(dim=-1, descending=True).values
            留下 = 分数 >= 降序[..., min(k, 分数.shape[-1]) - 1].unsqueeze(-1)
        if p is not None:
            概率, 次序 = self.归一(分数, 留下).sort(dim=-1, descending=True)
            到此 = 概率.cumsum(dim=-1) >= p
            去掉 = torch.cat([torch.zeros_like(到此[..., :1]), 到此[..., :-1]], dim=-1)
            还原 = torch.argsort(次序, dim=-1)
            留下 = 留下 & ~去掉.gather(-1, 还原)
        if min_p is not None:
            概率 = self.归一(分数, 留下)
            留下 = 留下 & (概率 >= min_p * 概率.max(dim=-1, keepdim=True).values)
        return self.归一(分数, 留下).to(logits.dtype)

    @staticmethod
    def 归一(分数, 留下):
        指数 = torch.exp(分数 - 分数.amax(-1, keepdim=True).detach()) * 留下
        return 指数 / 指数.sum(-1, keepdim=True)

    @staticmethod
    def 检查(temp, k, p, min_p):
        if temp < 0:
            raise ValueError("温度不能为负")
        if k is not None and k < 1:
            raise ValueError("k 至少为 1")
        if any(x is not None and not 0.0 <= x <= 1.0 for x in (p, min_p)):
            raise ValueError("概率应在 0 到 1 之间")


class Sampler:
    def __call__(self, probs, u):
        if tuple(u.shape) != tuple(probs.shape[:-1]):
            raise ValueError("每一行需要一个随机数")
        累积 = probs.float().cumsum(-1) if probs.dtype != torch.float64 else probs.cumsum(-1)
        可选 = (累积 > u[..., None]) & (probs > 0)
        编号 = torch.arange(probs.shape[-1])
        后备 = torch.where(probs > 0, 编号, -1).max(-1).values
        找到 = torch.where(可选, 编号, probs.shape[-1]).min(-1).values
        return torch.where(可选.any(-1), 找到, 后备)
