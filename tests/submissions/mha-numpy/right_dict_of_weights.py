# expect: accepted
# problem: mha-numpy

import numpy as np
from numpy import ndarray


class NumpyMultiHeadAttention:
    def __init__(self, model_dim: int, head_num: int, dtype=np.float64):
        if model_dim % head_num:
            raise ValueError((model_dim, head_num))
        self.head_num = head_num
        rng = np.random.RandomState(7)
        self.params = {
            name: rng.randn(model_dim, model_dim).astype(dtype) for name in ("Wq", "Wk", "Wv", "Wo")
        }

    def _heads(self, x: ndarray, name: str) -> ndarray:
        y = np.matmul(x, self.params[name])
        return np.stack(np.split(y, self.head_num, axis=-1), axis=1)

    @staticmethod
    def _softmax(x: ndarray) -> ndarray:
        x = np.exp(x - np.amax(x, -1, keepdims=True))
        return np.divide(x, np.sum(x, -1, keepdims=True))

    def forward(self, q: ndarray, k: ndarray, v: ndarray, mask: ndarray | None = None):
        q, k, v = self._heads(q, "Wq"), self._heads(k, "Wk"), self._heads(v, "Wv")
        logits = np.matmul(q, np.swapaxes(k, -1, -2)) / float(np.sqrt(q.shape[-1]))
        if mask is not None:
            hidden = np.broadcast_to(mask, logits.shape).astype(bool)
            logits[hidden] = np.finfo(logits.dtype).min
        probs = self._softmax(logits)
        merged = np.concatenate(list(np.matmul(probs, v).swapaxes(0, 1)), axis=-1)
        return np.matmul(merged, self.params["Wo"]), probs
