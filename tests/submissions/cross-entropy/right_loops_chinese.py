# expect: accepted
# problem: cross-entropy
# 逐个位置计算，全部用普通的浮点数
import math

import torch


def 逐位置(logits, targets, ignore_index):
    if tuple(targets.shape) != tuple(logits.shape[:-1]):
        raise ValueError("目标的形状不对")
    for b, (行, 目标) in enumerate(zip(logits.tolist(), targets.tolist())):
        for l, (z, y) in enumerate(zip(行, 目标)):
            if y == ignore_index:
                continue
            if not 0 <= y < len(z):
                raise ValueError(f"目标 {y} 不是类别")
            m = max(z)
            对数和 = m + math.log(sum(math.exp(v - m) for v in z))
            yield b, l, y, [v - 对数和 for v in z]


def cross_entropy(logits, targets, ignore_index=-100, label_smoothing=0.0):
    总和, 个数 = 0.0, 0
    for _, _, y, 对数概率 in 逐位置(logits, targets, ignore_index):
        损失 = -对数概率[y]
        if label_smoothing != 0:
            平均 = -sum(对数概率) / len(对数概率)
            损失 = (1 - label_smoothing) * 损失 + label_smoothing * 平均
        总和 += 损失
        个数 += 1
    类型 = torch.float64 if logits.dtype == torch.float64 else torch.float32
    return torch.tensor(总和 / max(个数, 1), dtype=类型)


def cross_entropy_backward(logits, targets, ignore_index=-100, label_smoothing=0.0):
    梯度 = torch.zeros(logits.shape, dtype=torch.float64)
    个数 = max(1, int((targets != ignore_index).sum()))
    for b, l, y, 对数概率 in 逐位置(logits, targets, ignore_index):
        一行 = [math.exp(v) - label_smoothing / len(对数概率) for v in 对数概率]
        一行[y] -= 1 - label_smoothing
        梯度[b, l] = torch.tensor(一行, dtype=torch.float64) / 个数
    return 梯度.to(logits.dtype)
