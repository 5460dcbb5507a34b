# expect: accepted
# problem: mha-numpy
import numpy as np

def scaled_dot_product_attention(q, k, v, mask):
    matmul_qk = np.matmul(q, np.transpose(k, (0, 1, 3, 2)))
    dk = k.shape[-1]
    logits = matmul_qk / np.sqrt(dk)
    if mask is not None:
        logits += (mask * -1e9)
    logits = logits - logits.max(axis=-1, keepdims=True)
    weights = np.exp(logits) / np.exp(logits).sum(axis=-1, keepdims=True)
    return np.matmul(weights, v), weights

class Dense:
    def __init__(self, units_in, units):
        limit = np.sqrt(6 / (units_in + units))
        self.kernel = np.random.uniform(-limit, limit, (units_in, units))
        self.bias = np.zeros(units)
    def __call__(self, x):
        return x @ self.kernel + self.bias

class MultiHeadAttention:
    def __init__(self, d_model, num_heads):
        self.num_heads = num_heads
        self.d_model = d_model
        assert d_model % self.num_heads == 0
        self.depth = d_model // self.num_heads
        self.wq = Dense(d_model, d_model)
        self.wk = Dense(d_model, d_model)
        self.wv = Dense(d_model, d_model)
        self.dense = Dense(d_model, d_model)
    def split_heads(self, x, batch_size):
        x = np.reshape(x, (batch_size, -1, self.num_heads, self.depth))
        return np.transpose(x, (0, 2, 1, 3))
    def __call__(self, v, k, q, mask=None):
        batch_size = q.shape[0]
        q, k, v = self.wq(q), self.wk(k), self.wv(v)
        q = self.split_heads(q, batch_size)
        k = self.split_heads(k, batch_size)
        v = self.split_heads(v, batch_size)
        scaled_attention, attention_weights = scaled_dot_product_attention(q, k, v, mask)
        scaled_attention = np.transpose(scaled_attention, (0, 2, 1, 3))
        concat_attention = np.reshape(scaled_attention, (batch_size, -1, self.d_model))
        return self.dense(concat_attention), attention_weights
