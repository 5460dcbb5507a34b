# expect: accepted
# problem: swiglu
"""A ParameterDict, exp(logsigmoid), chunks of positions, float32 inside."""

import torch
from torch import nn
from torch.nn.functional import logsigmoid


class SwiGLUFeedForward(nn.Module):
    def __init__(self, embed_dim, ffn_dim):
        super().__init__()
        self.maps = nn.ParameterDict(
            {
                "up": nn.Parameter(torch.randn(embed_dim, ffn_dim)),
                "down": nn.Parameter(torch.randn(ffn_dim, embed_dim)),
                "gate": nn.Parameter(torch.randn(embed_dim, ffn_dim)),
            }
        )

    def forward(self, x):
        if x.size(-1) != self.maps["up"].size(0):
            raise RuntimeError("width")
        up, down, gate = (self.maps[n].float() for n in ("up", "down", "gate"))
        flat = x.contiguous().view(-1, x.size(-1)).float()
        parts = []
        for part in flat.split(999):
            g = torch.einsum("ne,ef->nf", part, gate)
            parts.append((g * logsigmoid(g).exp() * part.matmul(up)) @ down)
        return torch.cat(parts).to(x.dtype).view_as(x)
