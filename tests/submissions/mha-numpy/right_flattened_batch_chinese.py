# expect: accepted
# problem: mha-numpy
import numpy as np


class MultiHeadAttentionNumpy:
    """把头并入批次维的写法。"""

    def __init__(self, d_model, n_heads):
        if d_model % n_heads != 0:
            raise ValueError("d_model 必须能被 n_heads 整除")
        self.头数, self.头宽 = n_heads, d_model // n_heads
        self.W_q = np.zeros((d_model, d_model))
        self.W_k = np.zeros((d_model, d_model))
        self.W_v = np.zeros((d_model, d_model))
        self.W_o = np.zeros((d_model, d_model))

    def 拆分(self, x):
        批, 长, _ = x.shape
        x = x.reshape(批, 长, self.头数, self.头宽)
        return x.transpose(0, 2, 1, 3).reshape(批 * self.头数, 长, self.头宽)

    def forward(self, q, k, v, mask=None):
        批, 长, 宽 = q.shape
        Q, K, V = self.拆分(q @ self.W_q), self.拆分(k @ self.W_k), self.拆分(v @ self.W_v)
        分数 = Q @ K.transpose(0, 2, 1) / self.头宽**0.5
        分数 = 分数.reshape(批, self.头数, 长, -1)
        if mask is not None:
            分数 = 分数 + mask * -1e9  # 1 表示屏蔽
        指数 = np.exp(分数 - 分数.max(-1, keepdims=True))
        权重 = 指数 / 指数.sum(-1, keepdims=True)
        输出 = 权重.reshape(批 * self.头数, 长, -1) @ V
        输出 = 输出.reshape(批, self.头数, 长, self.头宽).transpose(0, 2, 1, 3).reshape(批, 长, 宽)
        return 输出 @ self.W_o, 权重
