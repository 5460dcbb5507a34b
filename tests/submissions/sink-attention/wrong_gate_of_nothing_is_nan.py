# expect: rejected
# problem: sink-attention
# mistake: the softmax of a row without keys is NaN, and NaN times a gate of 0 stays NaN
# diagnosis: maximum-without-sink
import torch


def sink_attention(q, k, v, sinks, window=None, q_weight=None, k_weight=None):
    if q_weight is not None:
        q = torch.nn.functional.rms_norm(q, q.shape[-1:], q_weight, 1e-6)
        k = torch.nn.functional.rms_norm(k, k.shape[-1:], k_weight, 1e-6)
    times = q.shape[1] // k.shape[1]
    k, v = (x.repeat_interleave(times, 1) for x in (k, v))
    scores = q @ k.mT / q.shape[-1] ** 0.5
    L, S = scores.shape[-2:]
    keep = torch.ones(L, S, dtype=torch.bool).tril(S - L)
    if window is not None:
        keep = keep & torch.ones(L, S, dtype=torch.bool).triu(S - L - window + 1)
    scores = scores.masked_fill(~keep, float("-inf"))
    gate = torch.sigmoid(torch.logsumexp(scores, -1) - sinks.view(-1, 1))
    return scores.softmax(-1) @ v * gate.unsqueeze(-1)
