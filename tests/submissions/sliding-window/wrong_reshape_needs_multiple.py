# expect: rejected
# problem: sliding-window
# mistake: the length must be a multiple of the window
import torch


def sliding_window_attention(q, k, v, window):
    B, H, L, D = q.shape
    window = min(window, L)
    shape = (B, H, L // window, window, D)
    qb, kb, vb = q.reshape(shape), k.reshape(shape), v.reshape(shape)

    def look_back(x):
        return torch.cat([torch.zeros_like(x[:, :, :1]), x[:, :, :-1]], 2)

    kb, vb = (torch.cat([look_back(x), x], 3) for x in (kb, vb))
    s = qb @ kb.transpose(-1, -2) / D**0.5
    i = torch.arange(window)[:, None] + window
    j = torch.arange(2 * window)[None]
    hidden = ((j > i) | (j <= i - window)).expand(L // window, -1, -1).clone()
    hidden[0, :, :window] = True
    return (s.masked_fill(hidden, float("-inf")).softmax(-1) @ vb).reshape(B, H, L, D)
