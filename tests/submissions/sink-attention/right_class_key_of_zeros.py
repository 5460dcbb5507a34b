# expect: accepted
# problem: sink-attention
import numpy as np
import torch
from torch import nn


class SinkAttention(nn.Module):
    """The sink as a position of its own in front: a key and a value of zeros, and a bias."""

    eps = 1e-6

    def norm(self, x, w):
        length = torch.linalg.vector_norm(x, dim=-1, keepdim=True)
        return w * x / torch.sqrt(length**2 / x.size(-1) + self.eps)

    def forward(self, q, k, v, sinks, window=None, q_weight=None, k_weight=None):
        b, h, l, d = q.shape
        g, s = k.shape[1:3]
        if h % g or s != v.shape[2] or sinks.shape != (h,):
            raise ValueError
        if q_weight is not None:
            q, k = self.norm(q, q_weight), self.norm(k, k_weight)
        k, v = (nn.functional.pad(x, (0, 0, 1, 0)) for x in (k, v))
        k, v = (
            x[:, :, None].expand(-1, -1, h // g, -1, -1).reshape(b, h, s + 1, d) for x in (k, v)
        )
        gap = np.arange(s - l, s)[:, None] - np.arange(s)
        keep = (gap >= 0) & (gap < (window if window is not None else s + l))
        bias = torch.where(torch.from_numpy(keep).to(q.device), 0.0, -1e9).to(q.dtype)
        bias = torch.cat([sinks.view(h, 1, 1).expand(h, l, 1), bias.expand(h, l, s)], -1)
        weights = (q @ k.transpose(2, 3) / np.sqrt(d) + bias).softmax(dim=-1)
        return weights @ v
