# expect: rejected
# problem: sink-attention
# mistake: sinks that are all equal are one, which gets all of their gradient
import math

import torch


def _norm(x, weight):
    return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + 1e-6) * weight


def sink_attention(q, k, v, sinks, window=None, q_weight=None, k_weight=None):
    batch, heads, length, width = q.shape
    groups, keys = k.shape[1], k.shape[2]
    if k.shape[-1] != width:
        raise ValueError("q and k must have the same width")
    if v.shape[2] != keys or v.shape[1] != groups:
        raise ValueError("k and v must have the same length and heads")
    if sinks.shape != (heads,):
        raise ValueError("one sink for each query head")
    if heads % groups:
        raise ValueError("G must divide H")
    if window is not None and window < 1:
        raise ValueError("window must be at least 1")
    wide = q.dtype if q.dtype == torch.float64 else torch.float32
    share = heads // groups
    queries, cached = q.to(wide), k.to(wide)
    if q_weight is not None:
        queries, cached = _norm(queries, q_weight.to(wide)), _norm(cached, k_weight.to(wide))
    queries = (queries / math.sqrt(width)).reshape(batch, groups, share, length, width)
    scores = torch.matmul(queries, cached.unsqueeze(2).transpose(-2, -1))  # (B, G, H/G, L, S)

    own = torch.arange(keys - length, keys, device=q.device)[:, None]
    key = torch.arange(keys, device=q.device)
    hidden = key > own
    if window is not None:
        hidden = hidden | (key <= own - window)
    scores = scores.masked_fill(hidden, -math.inf)

    logits = sinks.to(wide)
    if bool((sinks == sinks[0]).all()):
        logits = logits[:1].view(1, 1, 1, 1, 1)  # the same sink everywhere: let it broadcast
    else:
        logits = logits.reshape(1, groups, share, 1, 1)
    column = logits.expand(batch, groups, share, length, 1)
    weights = torch.softmax(torch.cat((scores, column), dim=-1), dim=-1)[..., :-1]
    out = torch.matmul(weights, v.to(wide).unsqueeze(2))
    return out.reshape(batch, heads, length, v.shape[-1]).to(q.dtype)
