# expect: accepted
# problem: sink-attention
import torch


def sink_attention(q, k, v, sinks, window=None, q_weight=None, k_weight=None):
    """A plain softmax, and a gate beside it: sigmoid(logsumexp − sink) of the weight stays."""
    B, H, L, D = q.shape
    G, S = k.shape[1], k.shape[2]
    if H % G or k.shape != v.shape or len(sinks) != H:
        raise ValueError("sizes do not belong together")
    if q_weight is not None:
        q = q / (q.pow(2).mean(-1, keepdim=True) + 1e-6).sqrt() * q_weight
        k = k / (k.pow(2).mean(-1, keepdim=True) + 1e-6).sqrt() * k_weight
    owner = torch.arange(H, device=q.device) // (H // G)
    k, v = k[:, owner], v[:, owner]
    scores = (q * D**-0.5) @ k.mT
    row = torch.arange(S - L, S, device=q.device)[:, None]
    col = torch.arange(S, device=q.device)[None]
    seen = col <= row
    if window is not None:
        seen = seen & (col > row - window)
    scores = torch.where(seen, scores, torch.finfo(scores.dtype).min)
    gate = torch.sigmoid(torch.logsumexp(scores, -1) - sinks[:, None])
    return (scores.softmax(-1) @ v) * gate[..., None]
