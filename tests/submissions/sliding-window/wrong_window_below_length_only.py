# expect: rejected
# problem: sliding-window
# mistake: unfold without padding, and the head of the sequence by loop: long windows raise
import torch


def sliding_window_attention(q, k, v, window):
    scale = q.shape[-1] ** -0.5
    head = []
    for i in range(window - 1):
        s = (q[:, :, i : i + 1] @ k[:, :, : i + 1].transpose(-1, -2) * scale).softmax(-1)
        head.append(s @ v[:, :, : i + 1])
    kw, vw = k.unfold(2, window, 1), v.unfold(2, window, 1)
    s = torch.einsum("bhld,bhldw->bhlw", q[:, :, window - 1 :], kw) * scale
    tail = torch.einsum("bhlw,bhldw->bhld", s.softmax(-1), vw)
    return torch.cat([*head, tail], 2)
