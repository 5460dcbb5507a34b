# expect: rejected
# problem: sliding-window
# mistake: blocks of 64 meet the block before, however long the window
import torch
def sliding_window_attention(q, k, v, window):
    B, H, L, D = q.shape
    assert k.shape[-1] == D
    C = 64
    outs = []
    for s in range(0, L, C):
        e = min(L, s + C); a = max(0, s - C)
        i = torch.arange(s, e)[:, None]; j = torch.arange(a, e)[None]
        sc = q[:, :, s:e] @ k[:, :, a:e].transpose(-1, -2) / D ** 0.5
        sc = sc.masked_fill((j > i) | (j <= i - window), float("-inf"))
        outs.append(sc.softmax(-1) @ v[:, :, a:e])
    return torch.cat(outs, 2)
