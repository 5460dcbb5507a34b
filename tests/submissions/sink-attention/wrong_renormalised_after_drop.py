# expect: rejected
# problem: sink-attention
# mistake: the weights are divided by their sum once the sink's column is dropped
# diagnosis: no-sink
import math

import torch


class AttentionWithSinks:
    def __call__(self, q, k, v, sinks, window=None, q_weight=None, k_weight=None):
        if q_weight is not None:
            q, k = self.rms(q) * q_weight, self.rms(k) * k_weight
        n = q.size(1) // k.size(1)
        k, v = torch.repeat_interleave(k, n, 1), torch.repeat_interleave(v, n, 1)
        scores = torch.matmul(q, k.transpose(-1, -2)) / math.sqrt(q.size(-1))
        gap = torch.arange(k.size(2)) - torch.arange(q.size(2))[:, None] - k.size(2) + q.size(2)
        scores[..., gap > 0] = -torch.inf
        if window is not None:
            scores[..., gap <= -window] = -torch.inf
        column = sinks[None, :, None, None].expand(*scores.shape[:3], 1)
        weights = torch.cat([column, scores], -1).softmax(-1)[..., 1:]
        return (weights / weights.sum(-1, keepdim=True)) @ v

    def rms(self, x):
        return x / torch.sqrt((x**2).mean(-1, keepdim=True) + 1e-6)
