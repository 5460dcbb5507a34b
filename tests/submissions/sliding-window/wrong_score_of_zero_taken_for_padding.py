# expect: rejected
# problem: sliding-window
# mistake: a place before the sequence is told by its score of 0
import torch, torch.nn.functional as F
def sliding_window_attention(q, k, v, window):
    B, H, L, D = q.shape
    assert k.shape[-1] == D
    w = window
    kk = F.pad(k, (0, 0, w - 1, 0)).unfold(2, w, 1)
    vv = F.pad(v, (0, 0, w - 1, 0)).unfold(2, w, 1)
    s = torch.einsum("bhld,bhldw->bhlw", q, kk) / D ** 0.5
    s = s.masked_fill(s == 0, float("-inf"))
    return torch.einsum("bhlw,bhldw->bhld", s.softmax(-1), vv)
