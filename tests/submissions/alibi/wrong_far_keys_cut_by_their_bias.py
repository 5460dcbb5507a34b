# expect: rejected
# problem: alibi
# mistake: keys whose bias alone is far below zero are cut off
import math

import torch

NEGLIGIBLE = 200.0  # exp(-200) is nothing in any dtype


def alibi_slopes(num_heads):
    def powers(n):
        return [2.0 ** (-8.0 * (i + 1) / n) for i in range(n)]

    p = 1 << (num_heads.bit_length() - 1)
    slopes = powers(p)
    if p != num_heads:
        slopes += powers(2 * p)[0::2][: num_heads - p]
    return torch.tensor(slopes, dtype=torch.float32)


def alibi_attention(q, k, v, slopes, causal=True):
    B, H, L, D = q.shape
    S = k.shape[2]
    if k.shape[-1] != D or v.shape[2] != S or L > S or slopes.shape != (H,):
        raise ValueError("shapes do not fit")
    if causal:
        # steep slopes: what lies too far back has no weight, so it need not be read at all
        least = float(slopes.detach().min())
        if least > 0:
            reach = math.ceil(NEGLIGIBLE / least)
            first = max(0, S - L - reach)
            if first:
                k, v = k[:, :, first:], v[:, :, first:]
                S -= first
    wide = torch.promote_types(q.dtype, torch.float32)
    query = torch.arange(S - L, S, device=q.device)[:, None]
    key = torch.arange(S, device=q.device)[None, :]
    distance = (query - key).abs().to(wide)
    scores = (q.to(wide) @ k.to(wide).transpose(-2, -1)) / math.sqrt(D)
    scores = scores - slopes.to(wide)[:, None, None] * distance
    if causal:
        scores = scores.masked_fill(key > query, float("-inf"))
    return (scores.softmax(-1) @ v.to(wide)).to(q.dtype)
