# expect: accepted
# problem: masked-mha
import torch
from torch import nn


class MultiHeadAttention(nn.Module):
    """Every map is one parameter with the heads in front: (H, E, D) in, (H, D, E) out."""

    def __init__(self, d_model, num_heads):
        super().__init__()
        assert d_model % num_heads == 0
        d = self.d = d_model // num_heads
        self.wq, self.wk, self.wv = (
            nn.Parameter(torch.randn(num_heads, d_model, d) / d_model**0.5) for _ in range(3)
        )
        self.wo = nn.Parameter(torch.randn(num_heads, d, d_model) / d_model**0.5)

    def forward(self, query, key, value, mask=None):
        q = torch.einsum("bne,hed->bhnd", query, self.wq)
        k = torch.einsum("bne,hed->bhnd", key, self.wk)
        v = torch.einsum("bne,hed->bhnd", value, self.wv)
        scores = q @ k.mT / self.d**0.5
        if mask is not None:
            scores = scores.masked_fill(mask == 0, float("-inf"))
        return torch.einsum("bhnd,hde->bne", scores.softmax(-1) @ v, self.wo)
