# expect: accepted
# problem: mha-numpy
import numpy as np


class MultiHeadAttentionNumpy:
    def __init__(self, d_model, n_heads):
        self.H = n_heads
        self.D, rest = divmod(d_model, n_heads)
        if rest:
            raise ValueError(f"{d_model} is not a multiple of {n_heads}")
        self.W_q, self.W_k, self.W_v, self.W_o = np.random.normal(size=(4, d_model, d_model))

    def forward(self, q, k, v, mask=None):
        if mask is not None:
            mask = np.broadcast_to(mask, (len(q), self.H, q.shape[1], k.shape[1]))
        output, weights = 0.0, []
        for h in range(self.H):
            part = slice(h * self.D, (h + 1) * self.D)
            qh, kh, vh = q @ self.W_q[:, part], k @ self.W_k[:, part], v @ self.W_v[:, part]
            s = qh @ kh.transpose(0, 2, 1) / self.D**0.5
            if mask is not None:
                s = np.where(mask[:, h] > 0, -1e9, s)
            s = np.exp(s - s.max(axis=2)[:, :, None])
            w = s / s.sum(axis=2)[:, :, None]
            output = output + w @ vh @ self.W_o[part]
            weights.append(w)
        return output, np.stack(weights, axis=1)
