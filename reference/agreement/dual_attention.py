"""The reference against the four terms of the paper, number by number, and fused attention."""

import math

import torch
from reference.dual_attention import dual_attention
from torch.nn import functional


def cases():
    """Yield a name, the reference's output and another's, (B, H, L, D) in float64."""
    for L, S in ((5, 5), (3, 8), (7, 9), (1, 6)):
        shapes = ((2, 3, L, 4), (2, 3, S, 4), (2, 3, S, 4), (3, S, 4), (3, 4), (3, 4))
        q, k, v, r, b, c = (torch.randn(*shape, dtype=torch.float64) for shape in shapes)
        own = dual_attention(q, k, v, r, b, c)
        yield f"sums over the paper's four terms, L = {L}, S = {S}", own, _by_hand(q, k, v, r, b, c)
        # in fused attention the position term is an added mask, and the content bias is on q
        distance = torch.arange(S - L, S).unsqueeze(1) - torch.arange(S)  # (L, S)
        gathered = r[:, (S - 1 - distance).clamp(max=S - 1)]  # (H, L, S, D)
        added = torch.einsum("bhld,hlsd->bhls", q + c.unsqueeze(1), gathered) / math.sqrt(4)
        added = added.masked_fill(distance < 0, -math.inf)
        biased = q + b.unsqueeze(1)
        fused = functional.scaled_dot_product_attention(biased, k, v, attn_mask=added)
        yield f"scaled_dot_product_attention, L = {L}, S = {S}", own, fused


def _by_hand(q, k, v, r, b, c):
    output = torch.zeros_like(q)
    for n, h, i in torch.cartesian_prod(*map(torch.arange, q.shape[:3])).tolist():
        p = k.shape[2] - q.shape[2] + i
        scores = []
        for j in range(p + 1):
            embedding = r[h].flip(0)[p - j]
            terms = (q[n, h, i] * k[n, h, j], q[n, h, i] * embedding)
            biases = (b[h] * k[n, h, j], c[h] * embedding)
            scores.append(sum(term.sum() for term in terms + biases) / math.sqrt(q.shape[3]))
        weights = torch.stack(scores).exp()
        output[n, h, i] = weights @ v[n, h, : p + 1] / weights.sum()
    return output
