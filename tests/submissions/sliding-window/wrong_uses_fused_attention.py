# expect: rejected
# problem: sliding-window
# mistake: the fused kernel, block by block
# diagnosis: fused-attention
import torch
import torch.nn.functional as F


def sliding_window_attention(q, k, v, window):
    out = []
    for s in range(0, q.size(2), 64):
        e, lo = min(s + 64, q.size(2)), max(0, s - window + 1)
        i, j = torch.arange(s, e)[:, None], torch.arange(lo, e)
        keep = (j <= i) & (j > i - window)
        out.append(F.scaled_dot_product_attention(q[:, :, s:e], k[:, :, lo:e], v[:, :, lo:e], keep))
    return torch.cat(out, 2)
