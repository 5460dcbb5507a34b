# expect: rejected
# problem: sdpa
# mistake: numpy inside, so no gradients
import numpy as np
import torch


def scaled_dot_product_attention(q, k, v, mask=None):
    Q, K, V = (t.detach().cpu().numpy() for t in (q, k, v))
    s = Q @ np.swapaxes(K, -1, -2) / np.sqrt(Q.shape[-1]).astype(Q.dtype)
    if mask is not None:
        s = np.where(mask.numpy() == 0, np.asarray(-1e9, dtype=s.dtype), s)
    s = np.exp(s - s.max(-1, keepdims=True))
    w = s / s.sum(-1, keepdims=True)
    return torch.from_numpy(w @ V), torch.from_numpy(w)
