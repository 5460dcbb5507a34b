# expect: accepted
# problem: kv-cache-step
import torch
from torch import nn


class CachedSelfAttention(nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()
        assert d_model % num_heads == 0
        self.h, self.d = num_heads, d_model // num_heads
        self.q_proj = nn.Linear(d_model, d_model)
        self.k_proj = nn.Linear(d_model, d_model)
        self.v_proj = nn.Linear(d_model, d_model)
        self.o_proj = nn.Linear(d_model, d_model)

    def forward(self, x, cache=None):
        outs = []
        for t in range(x.shape[1]):
            token = x[:, t : t + 1]
            q, k, v = (
                m(token).unflatten(-1, (self.h, self.d)).transpose(1, 2)
                for m in (self.q_proj, self.k_proj, self.v_proj)
            )
            if cache is not None:
                k, v = torch.cat([cache[0], k], 2), torch.cat([cache[1], v], 2)
            cache = (k, v)
            w = (q @ k.mT / self.d**0.5).softmax(-1)
            outs.append(self.o_proj((w @ v).transpose(1, 2).flatten(2)))
        return torch.cat(outs, dim=1), cache
