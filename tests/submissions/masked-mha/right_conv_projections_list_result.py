# expect: accepted
# problem: masked-mha
from typing import List, Optional

import torch
from torch import nn, Tensor


class MultiHeadAttentionLayer(nn.Module):
    """1×1 convolutions for the maps; gives a list back."""

    def __init__(self, hidden_dim: int, n_heads: int, dropout: float = 0.0):
        super().__init__()
        assert hidden_dim % n_heads == 0
        self.n_heads = n_heads
        self.conv_q = nn.Conv1d(hidden_dim, hidden_dim, kernel_size=1)
        self.conv_k = nn.Conv1d(hidden_dim, hidden_dim, kernel_size=1)
        self.conv_v = nn.Conv1d(hidden_dim, hidden_dim, kernel_size=1)
        self.conv_o = nn.Conv1d(hidden_dim, hidden_dim, kernel_size=1)
        self.drop = nn.Dropout(dropout)

    def forward(self, q: Tensor, k: Tensor, v: Tensor, mask: Optional[Tensor] = None) -> List[Tensor]:
        q, k, v = self.conv_q(q.mT), self.conv_k(k.mT), self.conv_v(v.mT)
        # (B, E, N) -> (B, H, D, N)
        q, k, v = (t.unflatten(1, (self.n_heads, -1)) for t in (q, k, v))
        s = torch.einsum("bhdi,bhdj->bhij", q, k) * q.size(2) ** -0.5
        if mask is not None:
            s = s + (1.0 - mask.to(s.dtype)) * torch.finfo(s.dtype).min
        w = self.drop(torch.log_softmax(s, dim=-1).exp())
        o = torch.einsum("bhij,bhdj->bhdi", w, v).flatten(1, 2)
        return [self.conv_o(o).mT, w]
