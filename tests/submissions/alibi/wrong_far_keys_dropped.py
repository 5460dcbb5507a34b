# expect: rejected
# problem: alibi
# mistake: keys whose bias alone is below -120 are cut away as "weight 0 anyway", although a large score at a far key can outweigh its bias
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
    start = 0
    flattest = slopes.detach().min().item()
    if flattest > 0:  # exp(-120) is 0 in float32: no key further away than this matters
        start = max(0, S - L - math.ceil(120 / flattest))
    k, v = k[:, :, start:], v[:, :, start:]
    wide = torch.float32 if q.dtype in (torch.bfloat16, torch.float16) else q.dtype
    scores = q.to(wide) @ k.to(wide).transpose(-1, -2) / math.sqrt(D)
    i = torch.arange(S - L, S, device=q.device)[:, None]
    j = torch.arange(start, S, device=q.device)[None, :]
    scores = scores - slopes.to(wide)[:, None, None] * (i - j).abs().to(wide)
    if causal:
        scores = scores.masked_fill(j > i, float("-inf"))
    return (torch.softmax(scores, -1) @ v.to(wide)).to(q.dtype)
