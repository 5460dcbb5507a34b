# expect: rejected
# problem: sink-attention
# mistake: softmax₁ by hand, shifted rightly, and the sinks are never used
# diagnosis: softmax-one
import torch


def softmax1(x):
    top = x.amax(-1, keepdim=True).clamp(min=0)
    e = (x - top).exp()
    return e / ((-top).exp() + e.sum(-1, keepdim=True))


def sink_attention(q, k, v, sinks, window=None, q_weight=None, k_weight=None):
    H, G, L, S = q.shape[1], k.shape[1], q.shape[2], k.shape[2]
    if H % G or len(sinks) != H:
        raise ValueError
    if q_weight is not None:
        q = q * (q.square().mean(-1, keepdim=True) + 1e-6).rsqrt() * q_weight
        k = k * (k.square().mean(-1, keepdim=True) + 1e-6).rsqrt() * k_weight
    heads = []
    for h in range(H):
        scores = q[:, h] @ k[:, h * G // H].mT / q.shape[-1] ** 0.5
        i, j = torch.arange(S - L, S)[:, None], torch.arange(S)
        hidden = (j > i) if window is None else (j > i) | (i - j >= window)
        heads.append(softmax1(scores.masked_fill(hidden, float("-inf"))) @ v[:, h * G // H])
    return torch.stack(heads, 1)
