# expect: rejected
# problem: sink-attention
# mistake: queries and keys of length 1, as in Henry et al., and √D all the same
# diagnosis: norm-by-length
import torch


def sink_attention(q, k, v, sinks, window=None, q_weight=None, k_weight=None):
    def unit(x, w):
        return x / (x.square().sum(-1, keepdim=True) + 1e-6).sqrt() * w

    if q_weight is not None:
        q, k = unit(q, q_weight), unit(k, k_weight)
    times = q.shape[1] // k.shape[1]
    k, v = (x.repeat_interleave(times, 1) for x in (k, v))
    k, v = (torch.nn.functional.pad(x, (0, 0, 0, 1)) for x in (k, v))
    scores = q @ k.mT / q.shape[-1] ** 0.5
    L, S = q.shape[2], k.shape[2] - 1
    gap = torch.arange(S - L, S)[:, None] - torch.arange(S + 1)
    far = S + L if window is None else window
    blocked = (gap < 0) | (gap >= far)
    scores = scores.masked_fill(blocked, float("-inf"))
    last = torch.arange(S + 1) == S
    return torch.where(last, sinks[:, None, None], scores).softmax(-1) @ v
