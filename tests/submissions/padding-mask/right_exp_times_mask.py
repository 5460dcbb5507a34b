# expect: accepted
# problem: padding-mask
import torch
from torch import Tensor, nn


class MultiHeadSelfAttention(nn.Module):
    """A softmax by hand: the largest score among tokens is subtracted, padding is multiplied away."""

    def __init__(self, emb_dim: int, n_heads: int):
        super().__init__()
        if emb_dim % n_heads:
            raise ValueError("emb_dim % n_heads != 0")
        self.n_heads = n_heads
        self.kv = nn.Linear(emb_dim, 2 * emb_dim)
        self.q = nn.Linear(emb_dim, emb_dim)
        self.out = nn.Linear(emb_dim, emb_dim)

    def forward(self, x: Tensor, padding: Tensor | None = None) -> Tensor:
        B, L, E = x.shape
        q = self.q(x).unflatten(-1, (self.n_heads, -1))
        k, v = self.kv(x).unflatten(-1, (2, self.n_heads, -1)).unbind(2)
        s = torch.einsum("blhd,bmhd->bhlm", q, k) / (E // self.n_heads) ** 0.5
        keep = torch.ones(B, L, dtype=x.dtype) if padding is None else padding.to(x.dtype)
        keep = keep[:, None, None, :]
        low = s.masked_fill(keep == 0, torch.finfo(s.dtype).min)
        e = torch.exp(low - low.amax(-1, keepdim=True)) * keep
        w = e / (e.sum(-1, keepdim=True) + 1e-20 if s.dtype != torch.float16 else e.sum(-1, keepdim=True))
        return self.out(torch.einsum("bhlm,bmhd->blhd", w, v).flatten(2))
