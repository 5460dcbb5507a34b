"""The reference against loops over tokens in Python, as the papers describe them."""

import math

import torch
from reference.sampling import filtered_probabilities, sample


def cases():
    """Yield a name, the reference's value and that of the loops, float64."""
    logits = 1.5 * torch.randn(7, 11, dtype=torch.float64)
    logits[torch.rand(7, 11) < 0.2] = -math.inf
    logits[:, 3] = 0.5
    for given in (
        (1.0, None, None, None),
        (0.7, None, None, None),
        (0.0, 3, 0.5, 0.1),
        (1.0, 4, None, None),
        (1.0, None, 0.63, None),
        (1.0, None, None, 0.17),
        (1.3, 6, 0.81, 0.29),
    ):
        rows = [_filtered(row, *given) for row in logits.tolist()]
        other = torch.tensor(rows, dtype=torch.float64)
        own = filtered_probabilities(logits, *given)
        yield f"a loop with {given}", own, other
        uniform = torch.rand(7, dtype=torch.float64)
        ids = [_drawn(row, u) for row, u in zip(own.tolist(), uniform.tolist(), strict=True)]
        drawn = sample(own, uniform).double()
        yield f"a loop that draws, {given}", drawn, torch.tensor(ids, dtype=torch.float64)


def _filtered(row, temperature, top_k, top_p, min_p):
    ids = sorted(range(len(row)), key=lambda i: (-row[i], i))
    if temperature == 0:
        return [float(i == ids[0]) for i in range(len(row))]
    weights = {i: math.exp(row[i] / temperature) for i in ids}
    if top_k is not None:
        kth = row[ids[min(top_k, len(row)) - 1]]
        weights = {i: w for i, w in weights.items() if row[i] >= kth}
    if top_p is not None:
        whole, held, kept = sum(weights.values()), 0.0, {}
        for i, w in weights.items():
            kept[i] = w
            held += w / whole
            if held >= top_p:
                break
        weights = kept
    if min_p is not None:
        least = min_p * max(weights.values())
        weights = {i: w for i, w in weights.items() if w >= least}
    return [weights.get(i, 0.0) / sum(weights.values()) for i in range(len(row))]


def _drawn(row, u):
    held = 0.0
    for i, share in enumerate(row):
        held += share
        if held > u:
            return i
    return max(i for i, share in enumerate(row) if share > 0)
