# expect: rejected
# problem: sliding-window
# mistake: filled through .data, so no gradient flows
# diagnosis: inputs-detached
import torch


def sliding_window_attention(q, k, v, window):
    out = torch.zeros_like(q)
    for i in range(q.shape[2]):
        a = max(0, i + 1 - window)
        p = (q[:, :, i, None] * k[:, :, a : i + 1]).sum(-1).div(q.shape[3] ** 0.5).softmax(-1)
        out.data[:, :, i] = (p[..., None] * v[:, :, a : i + 1]).sum(2)
    return out
