# expect: rejected
# problem: flash-attention
# mistake: the highest score begins at -1e4, and scores may lie below
import torch
def flash_attention(q, k, v, block_size, causal=False):
    assert block_size >= 1 and q.shape[-1] == k.shape[-1] and k.shape[-2] == v.shape[-2]
    L, S = q.shape[-2], k.shape[-2]
    m = q.new_full((*q.shape[:-1], 1), -1e4); l = torch.zeros_like(m); o = 0
    for j in range(0, S, block_size):
        s = q @ k[..., j:j+block_size, :].transpose(-1, -2) / q.shape[-1] ** 0.5
        if causal:
            s = s.masked_fill(torch.arange(j, j + s.shape[-1]) > torch.arange(L)[:, None], float("-inf"))
        n = torch.maximum(m, s.amax(-1, keepdim=True)).detach()
        p = (s - n).exp(); f = (m - n).exp()
        l = l * f + p.sum(-1, keepdim=True); o = o * f + p @ v[..., j:j+block_size, :]; m = n
    return o / l
