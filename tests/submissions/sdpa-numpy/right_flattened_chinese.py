# expect: accepted
# problem: sdpa-numpy
import numpy as np


def scaled_dot_product_attention(q, k, v, mask=None):
    """把前置维度合并成一个批次维，再逐批相乘。"""
    前置 = q.shape[:-2]
    if k.shape[:-2] != 前置 or v.shape[:-2] != 前置:
        raise ValueError("前置维度不一致")
    长, 键长, 宽 = q.shape[-2], k.shape[-2], q.shape[-1]
    Q = q.reshape(-1, 长, 宽)
    K = k.reshape(-1, 键长, k.shape[-1])
    V = v.reshape(-1, v.shape[-2], v.shape[-1])
    分数 = np.matmul(Q, K.transpose(0, 2, 1)) / 宽**0.5
    if mask is not None:
        掩码 = np.broadcast_to(mask, (*前置, 长, 键长)).reshape(分数.shape)
        分数 = 分数 - 1e9 * 掩码
    指数 = np.exp(分数 - 分数.max(-1, keepdims=True))
    权重 = 指数 / 指数.sum(-1, keepdims=True)
    输出 = np.matmul(权重, V)
    return 输出.reshape(*前置, 长, -1), 权重.reshape(*前置, 长, 键长)
