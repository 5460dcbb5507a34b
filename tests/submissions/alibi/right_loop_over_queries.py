# expect: accepted
# problem: alibi
import torch


def slopes(n_heads):
    p = 2 ** (n_heads.bit_length() - 1)
    every = 2.0 ** (-4.0 / p * torch.arange(1, 2 * p + 1))  # those of 2p heads
    return torch.cat((every[1::2], every[0::2][: n_heads - p])).float()


def alibi_attention(q, k, v, m, causal=True):
    (_, H, L, D), S = q.shape, k.shape[2]
    if L > S:
        raise ValueError(f"{L} queries for {S} keys")
    if m.shape != (H,):
        raise ValueError("one slope for each head")
    if v.shape[2] != S:
        raise ValueError("as many values as keys")
    rows = []
    for i in range(L):
        at = S - L + i
        seen = at + 1 if causal else S
        logits = (q[:, :, i : i + 1] * k[:, :, :seen]).sum(-1) / D**0.5  # (B, H, seen)
        away = torch.arange(seen, device=q.device).sub(at).abs()
        logits = logits - m.unsqueeze(1) * away
        top = logits.max(dim=-1, keepdim=True).values.detach()
        e = torch.exp(logits - top)
        rows.append(torch.einsum("bhs,bhsd->bhd", e / e.sum(-1, keepdim=True), v[:, :, :seen]))
    return torch.stack(rows, dim=2)
