# expect: rejected
# problem: mha-numpy
# mistake: blocked scores get -10000, and scores may lie lower
# diagnosis: fill-too-small
import numpy as np


def softmax(x, axis=-1):
    e_x = np.exp(x - np.max(x, axis=axis, keepdims=True))
    return e_x / e_x.sum(axis=axis, keepdims=True)


class MultiHeadAttentionNumpy:
    def __init__(self, d_model, n_heads):
        assert d_model % n_heads == 0
        self.d_model = d_model
        self.n_heads = n_heads
        self.d_k = d_model // n_heads
        self.W_q = np.random.randn(d_model, d_model) * 0.01
        self.W_k = np.random.randn(d_model, d_model) * 0.01
        self.W_v = np.random.randn(d_model, d_model) * 0.01
        self.W_o = np.random.randn(d_model, d_model) * 0.01

    def split_heads(self, x):
        batch_size, seq_len, _ = x.shape
        return x.reshape(batch_size, seq_len, self.n_heads, self.d_k).transpose(0, 2, 1, 3)

    def forward(self, q, k, v, mask=None):
        batch_size = q.shape[0]
        Q = self.split_heads(np.dot(q, self.W_q))
        K = self.split_heads(np.dot(k, self.W_k))
        V = self.split_heads(np.dot(v, self.W_v))

        scores = np.matmul(Q, K.transpose(0, 1, 3, 2)) / np.sqrt(self.d_k)
        if mask is not None:
            scores = np.where(mask, -1e4, scores)
        attention_weights = softmax(scores, axis=-1)
        output = np.matmul(attention_weights, V)
        output = output.transpose(0, 2, 1, 3).reshape(batch_size, -1, self.d_model)
        return np.dot(output, self.W_o), attention_weights
