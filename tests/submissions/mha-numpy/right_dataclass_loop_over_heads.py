# expect: accepted
# problem: mha-numpy
import numpy as np
from dataclasses import dataclass, field

@dataclass
class MultiHeadAttentionNumpy:
    d_model: int
    n_heads: int
    W_q: np.ndarray = field(init=False, repr=False)
    W_k: np.ndarray = field(init=False, repr=False)
    W_v: np.ndarray = field(init=False, repr=False)
    W_o: np.ndarray = field(init=False, repr=False)

    def __post_init__(self):
        if self.d_model % self.n_heads:
            raise ValueError
        for name in ("W_q", "W_k", "W_v", "W_o"):
            setattr(self, name, np.random.standard_normal((self.d_model, self.d_model)))

    def forward(self, q, k, v, mask=None):
        d = self.d_model // self.n_heads
        heads, weights = [], []
        for h in range(self.n_heads):
            cols = slice(h * d, (h + 1) * d)
            qh, kh, vh = q @ self.W_q[:, cols], k @ self.W_k[:, cols], v @ self.W_v[:, cols]
            s = np.matmul(qh, kh.transpose(0, 2, 1)) / np.sqrt(d)
            if mask is not None:
                m = mask
                if m.ndim == 4:
                    m = m[:, h if m.shape[1] > 1 else 0]
                s = np.where(m, -1e9, s)
            s = np.exp(s - s.max(axis=-1, keepdims=True))
            s = s / s.sum(axis=-1, keepdims=True)
            heads.append(s @ vh)
            weights.append(s)
        return np.concatenate(heads, -1) @ self.W_o, np.stack(weights, 1)
