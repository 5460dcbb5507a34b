# expect: rejected
# problem: sink-attention
# mistake: a window that is not shorter than the queries are many is left out, cache or not
# diagnosis: window-cut-to-queries
import math

import torch


def sink_attention(q, k, v, sinks, window=None, q_weight=None, k_weight=None):
    (H, L, D), (G, S) = q.shape[1:], k.shape[1:3]
    if k.shape[3] != D or v.shape[2] != S or len(sinks) != H or H % G:
        raise ValueError("sizes do not fit")
    if q_weight is not None:
        q = torch.nn.functional.rms_norm(q, (D,), q_weight, 1e-6)
        k = torch.nn.functional.rms_norm(k, (D,), k_weight, 1e-6)
    k, v = (x.repeat_interleave(H // G, 1) for x in (k, v))
    distance = torch.arange(S - L, S)[:, None] - torch.arange(S)
    seen = distance >= 0
    if window is not None and window < L:
        seen &= distance < window
    scores = (q @ k.mT / math.sqrt(D)).masked_fill(~seen, -math.inf)
    sink = sinks[:, None, None].expand(*scores.shape[:-1], 1)
    return torch.cat((scores, sink), -1).softmax(-1)[..., :S] @ v
