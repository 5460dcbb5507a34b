# expect: rejected
# problem: mha-numpy
# mistake: from a million weights on they lie in a buffer that the next call uses again
import numpy as np

LARGE = 2**20  # from here on fresh pages for every call cost more than the softmax
_space = {}


def _scores_array(shape, dtype):
    if np.prod(shape) < LARGE:
        return np.empty(shape, dtype)
    key = (shape, np.dtype(dtype))
    if key not in _space:
        _space.clear()
        _space[key] = np.empty(shape, dtype)
    return _space[key]


class MultiHeadAttentionNumpy:
    def __init__(self, d_model, n_heads):
        if d_model % n_heads:
            raise ValueError("n_heads must divide d_model")
        self.d_model, self.n_heads, self.d_head = d_model, n_heads, d_model // n_heads
        rng = np.random.default_rng(0)
        self.W_q, self.W_k, self.W_v, self.W_o = (
            rng.standard_normal((d_model, d_model)) / np.sqrt(d_model) for _ in range(4)
        )

    def _split(self, x, W):
        if x.shape[-1] != self.d_model:
            raise ValueError("inputs must be d_model wide")
        B, L, _ = x.shape
        return (x @ W).reshape(B, L, self.n_heads, self.d_head).transpose(0, 2, 1, 3)

    def forward(self, q, k, v, mask=None):
        if k.shape[1] != v.shape[1]:
            raise ValueError("k and v differ in length")
        B, L, E = q.shape
        Q, K, V = self._split(q, self.W_q), self._split(k, self.W_k), self._split(v, self.W_v)
        Q = Q / np.sqrt(self.d_head).astype(Q.dtype)
        weights = _scores_array((B, self.n_heads, L, K.shape[2]), np.result_type(Q, K))
        np.matmul(Q, K.swapaxes(-1, -2), out=weights)
        if mask is not None:
            np.copyto(weights, -1e30, where=np.asarray(mask) != 0)
        weights -= weights.max(axis=-1, keepdims=True)
        np.exp(weights, out=weights)
        weights /= weights.sum(axis=-1, keepdims=True)
        out = (weights @ V).transpose(0, 2, 1, 3).reshape(B, L, E)
        return out @ self.W_o, weights
