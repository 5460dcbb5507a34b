# expect: accepted
# problem: masked-mha
import torch
from torch import nn


class MHA(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        if dim % heads != 0:
            raise ValueError("dim % heads")
        d = dim // heads
        self.projection = nn.Parameter(torch.randn(3, heads, dim, d) * dim**-0.5)
        self.projection_bias = nn.Parameter(torch.zeros(3, heads, d))
        self.merge = nn.Parameter(torch.randn(heads, d, dim) * dim**-0.5)

    def forward(self, q, k, v, mask=None):
        q, k, v = (
            torch.einsum("ble,hed->bhld", x, w) + b[:, None]
            for x, w, b in zip((q, k, v), self.projection, self.projection_bias)
        )
        scores = q @ k.transpose(2, 3) * q.shape[-1] ** -0.5
        if mask is not None:
            scores = scores.masked_fill(mask == 0, float("-inf"))
        return torch.einsum("bhld,hde->ble", scores.softmax(dim=3) @ v, self.merge)
