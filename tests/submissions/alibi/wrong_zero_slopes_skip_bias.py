# expect: rejected
# problem: alibi
# mistake: when every slope is 0 the bias is skipped as a no-op, so slopes get no gradient (None), though the derivative is not zero
import math

import torch


def alibi_slopes(num_heads):
    def power(n):
        return [2.0 ** (-8.0 * (i + 1) / n) for i in range(n)]

    p = 1 << (num_heads.bit_length() - 1)
    out = power(p)
    if p < num_heads:
        out += power(2 * p)[0::2][: num_heads - p]
    return torch.tensor(out, dtype=torch.float32)


def alibi_attention(q, k, v, slopes, causal=True):
    B, H, L, D = q.shape
    S = k.shape[2]
    if k.shape[-1] != D or v.shape[2] != S or L > S or slopes.shape != (H,):
        raise ValueError("shapes do not fit")
    if k.shape[:2] != (B, H) or v.shape[:2] != (B, H):
        raise ValueError("shapes do not fit")
    wide = torch.float32 if q.dtype in (torch.bfloat16, torch.float16) else q.dtype
    scores = q.to(wide) @ k.to(wide).transpose(-1, -2) / math.sqrt(D)
    i = torch.arange(S - L, S, device=q.device)[:, None]
    j = torch.arange(S, device=q.device)[None, :]
    if slopes.detach().any():  # all zero: plain attention, no (H, L, S) tensor needed
        scores = scores - slopes.to(wide)[:, None, None] * (i - j).abs().to(wide)
    if causal:
        scores = scores.masked_fill(j > i, float("-inf"))
    return (torch.softmax(scores, -1) @ v.to(wide)).to(q.dtype)
