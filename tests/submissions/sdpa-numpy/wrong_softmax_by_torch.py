# expect: rejected
# problem: sdpa-numpy
# mistake: PyTorch computes the softmax
# diagnosis: written-in-torch
import importlib

import numpy as np

torch = importlib.import_module("torch")


def sdpa(q, k, v, mask=None):
    s = np.matmul(q, k.swapaxes(-1, -2)) / float(np.sqrt(q.shape[-1]))
    if mask is not None:
        s = np.where(np.broadcast_to(mask, s.shape), -np.inf, s)
    p = torch.softmax(torch.tensor(s), -1).numpy()
    return np.matmul(p, v), p
