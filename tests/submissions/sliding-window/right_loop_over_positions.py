# expect: accepted
# problem: sliding-window
import numpy as np
import torch


def sliding_window_attention(Q, K, V, w):
    n, d_k = Q.shape[2], Q.shape[3]
    outs = []
    for i in range(n):
        lo = max(0, i - w + 1)
        s = (K[:, :, lo : i + 1] @ Q[:, :, i].unsqueeze(-1)).squeeze(-1) / np.sqrt(d_k)
        p = torch.softmax(s, dim=-1)
        outs.append((p.unsqueeze(-2) @ V[:, :, lo : i + 1]).squeeze(-2))
    return torch.stack(outs, dim=2)
