"""The reference against the quadratic form, and against a recurrence with one state."""

import torch
from reference.linear_attention import linear_attention


def cases():
    """Yield a name, the reference's output and another's, (B, H, L, D) in float64."""
    q, k, v = (torch.randn(2, 3, 13, 5, dtype=torch.float64) for _ in range(3))
    for causal in (False, True):
        kind = "causal" if causal else "full"
        yield (
            f"the quadratic form, {kind}",
            linear_attention(q, k, v, causal),
            _dense(q, k, v, causal),
        )
    yield "a recurrence", linear_attention(q, k, v, causal=True), _recurrent(q, k, v)


def _features(x):
    return torch.where(x > 0, x + 1, torch.exp(x))


def _dense(q, k, v, causal):
    weights = _features(q) @ _features(k).transpose(-2, -1)  # (B, H, L, L)
    if causal:
        weights = weights.tril()
    return weights / weights.sum(-1, keepdim=True) @ v


def _recurrent(q, k, v):
    state = torch.zeros(*q.shape[:2], q.shape[3], v.shape[3], dtype=q.dtype)  # (B, H, D, D)
    total = torch.zeros(*q.shape[:2], q.shape[3], dtype=q.dtype)  # (B, H, D)
    rows = []
    for i in range(q.shape[2]):
        query, key = _features(q[:, :, i]), _features(k[:, :, i])
        state = state + key.unsqueeze(-1) * v[:, :, i].unsqueeze(-2)
        total = total + key
        upper = (query.unsqueeze(-1) * state).sum(-2)
        rows.append(upper / (query * total).sum(-1, keepdim=True))
    return torch.stack(rows, dim=2)
