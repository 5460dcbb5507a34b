# expect: rejected
# problem: flash-attention
# mistake: queries beyond the last whole tile of 32 are left out
import torch
def flash_attention(q, k, v, block_size, causal=False):
    assert block_size >= 1 and q.shape[-1] == k.shape[-1] and k.shape[-2] == v.shape[-2]
    L, S = q.shape[-2], k.shape[-2]
    Br = min(32, L)
    outs = []
    for i in range(0, (L // Br) * Br, Br):
        qi = q[..., i:i+Br, :] / q.shape[-1] ** 0.5
        m = qi.new_full((*qi.shape[:-1], 1), float("-inf")); l = torch.zeros_like(m); o = 0
        for j in range(0, S, block_size):
            s = qi @ k[..., j:j+block_size, :].transpose(-1, -2)
            if causal:
                if j > i + Br - 1: break
                s = s.masked_fill(torch.arange(j, j + s.shape[-1]) > torch.arange(i, i + s.shape[-2])[:, None], float("-inf"))
            n = torch.maximum(m, s.amax(-1, keepdim=True)).detach()
            p = (s - n).exp(); f = (m - n).exp()
            l = l * f + p.sum(-1, keepdim=True); o = o * f + p @ v[..., j:j+block_size, :]; m = n
        outs.append(o / l)
    out = torch.cat(outs, -2)
    return torch.cat((out, torch.zeros(*out.shape[:-2], L - out.shape[-2], out.shape[-1], dtype=out.dtype)), -2)
