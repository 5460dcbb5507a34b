# expect: rejected
# problem: attention-dropout
# mistake: lets the library attend and drop
# diagnosis: fused-attention
import torch.nn as nn
import torch.nn.functional as F


class MHA(nn.Module):
    def __init__(self, d_model, n_heads, dropout):
        super().__init__()
        assert d_model % n_heads == 0
        self.h, self.p = n_heads, dropout
        self.q = nn.Linear(d_model, d_model)
        self.k = nn.Linear(d_model, d_model)
        self.v = nn.Linear(d_model, d_model)
        self.o = nn.Linear(d_model, d_model)

    def forward(self, q, k, v, mask=None):
        q, k, v = (t.unflatten(-1, (self.h, -1)).transpose(1, 2) for t in (self.q(q), self.k(k), self.v(v)))
        y = F.scaled_dot_product_attention(
            q, k, v, None if mask is None else mask.bool(), self.p if self.training else 0.0
        )
        return self.o(y.transpose(1, 2).flatten(2))
