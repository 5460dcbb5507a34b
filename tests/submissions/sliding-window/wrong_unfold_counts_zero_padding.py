# expect: rejected
# problem: sliding-window
# mistake: padded zeros take part in the softmax
# diagnosis: padding-has-score-0
import torch
import torch.nn.functional as F


def sliding_window_attention(q, k, v, window):
    k = F.pad(k, (0, 0, window - 1, 0)).unfold(2, window, 1)
    v = F.pad(v, (0, 0, window - 1, 0)).unfold(2, window, 1)
    a = torch.einsum("bhld,bhldw->bhlw", q, k) / q.shape[-1] ** 0.5
    return torch.einsum("bhlw,bhldw->bhld", a.softmax(-1), v)
