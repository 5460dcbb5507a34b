# expect: accepted
# problem: alibi
"""In the causal form the bias is one more feature of queries and keys: slope times position."""

import math

import torch


def alibi_slopes(num_heads):
    closest = 2 ** math.floor(math.log2(num_heads))
    exponents = [8 * h / closest for h in range(1, closest + 1)]
    exponents += [8 * h / (2 * closest) for h in range(1, 2 * closest, 2)]
    return torch.exp2(-torch.tensor(exponents[:num_heads]))


def alibi_attention(q, k, v, slopes, causal=True):
    B, H, L, D = q.shape
    S = k.shape[2]
    if k.shape != (B, H, S, D) or v.shape != k.shape or slopes.shape != (H,) or L > S:
        raise ValueError("sizes do not fit")
    dtype = q.dtype
    if dtype in (torch.float16, torch.bfloat16):
        q, k, v, slopes = (t.float() for t in (q, k, v, slopes))
    place = torch.arange(S, device=q.device)
    rows = place[S - L :, None]
    if causal:
        # counted from the end, so that it is small for the newest keys
        feature = (place - (S - 1)).to(q.dtype).view(1, 1, S, 1).expand(B, H, S, 1)
        rates = slopes.view(1, H, 1, 1).expand(B, H, L, 1)
        logits = torch.cat([q / math.sqrt(D), rates], -1) @ torch.cat([k, feature], -1).mT
        logits = torch.where(place > rows, -torch.inf, logits)
    else:
        logits = q @ k.mT / math.sqrt(D) - slopes.view(H, 1, 1) * (place - rows).abs()
    return (torch.softmax(logits, -1) @ v).to(dtype)
