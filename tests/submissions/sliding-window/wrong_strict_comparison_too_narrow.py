# expect: rejected
# problem: sliding-window
# mistake: i - j < window - 1, one key fewer
# diagnosis: one-key-too-few
import torch


def sliding_window_attention(q, k, v, window):
    i = torch.arange(q.shape[2])[:, None]
    j = torch.arange(q.shape[2])[None, :]
    allowed = (j <= i) & (i - j < window - 1)
    s = torch.einsum("bhid,bhjd->bhij", q, k) * q.shape[-1] ** -0.5
    s = s.masked_fill(~allowed, -1e9)
    return torch.einsum("bhij,bhjd->bhid", s.softmax(-1), v)
