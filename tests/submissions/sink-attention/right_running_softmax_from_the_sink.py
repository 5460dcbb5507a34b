# expect: accepted
# problem: sink-attention
import torch


def attention_with_sinks(q, k, v, sinks, window=None, q_weight=None, k_weight=None):
    """Online softmax over blocks of keys: it begins with the sink, whose sum is 1 and value 0."""
    batch, heads, rows, width = q.shape
    groups, length = k.shape[1:3]
    assert heads % groups == 0 and v.shape[:3] == k.shape[:3] and sinks.numel() == heads
    if q_weight is not None and k_weight is not None:
        q, k = unit(q) * q_weight, unit(k) * k_weight
    q = q.unflatten(1, (groups, heads // groups)) / width**0.5  # (B, G, H/G, L, D)
    best = sinks.view(groups, -1, 1, 1).expand(*q.shape[:4], 1)
    total = torch.ones_like(best)
    mixed = torch.zeros_like(q)
    place = torch.arange(rows, device=q.device) + length - rows
    for start in range(0, length, 16):
        keys, values = k[:, :, None, start : start + 16], v[:, :, None, start : start + 16]
        at = torch.arange(start, start + keys.shape[-2], device=q.device)
        gap = place[:, None] - at
        hidden = gap < 0 if window is None else (gap < 0) | (gap >= window)
        scores = (q @ keys.transpose(-2, -1)).masked_fill(hidden, float("-inf"))
        new = torch.maximum(best, scores.amax(-1, keepdim=True))
        shrink, weight = torch.exp(best - new), torch.exp(scores - new)
        total = total * shrink + weight.sum(-1, keepdim=True)
        mixed = mixed * shrink + weight @ values
        best = new
    return (mixed / total).flatten(1, 2)


def unit(x):
    return x * (x.square().mean(-1, keepdim=True) + 1e-6).rsqrt()
