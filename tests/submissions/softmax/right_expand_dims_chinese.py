# expect: accepted
# problem: softmax
import numpy as np


def softmax(输入, axis=-1, temperature=1.0):
    """数值稳定的 softmax，可选温度。"""
    最大值 = np.expand_dims(np.max(输入, axis), axis)
    指数 = np.exp((输入 - 最大值) / temperature)  # 最大的指数是 1
    总和 = np.expand_dims(np.sum(指数, axis), axis)
    return np.divide(指数, 总和)
