# expect: rejected
# problem: mqa
# mistake: the fused kernel with enable_gqa
# diagnosis: fused-attention
import torch.nn.functional as F
from torch import nn


class MultiQueryAttention(nn.Module):
    def __init__(self, dim, n_heads):
        super().__init__()
        assert dim % n_heads == 0
        self.h, self.d = n_heads, dim // n_heads
        self.wq = nn.Linear(dim, dim, bias=False)
        self.wk = nn.Linear(dim, self.d, bias=False)
        self.wv = nn.Linear(dim, self.d, bias=False)
        self.wo = nn.Linear(dim, dim, bias=False)

    def forward(self, x, mask=None):
        q = self.wq(x).unflatten(-1, (self.h, self.d)).transpose(1, 2)
        k, v = self.wk(x)[:, None], self.wv(x)[:, None]
        mask = mask.bool() if mask is not None else None
        o = F.scaled_dot_product_attention(q, k, v, attn_mask=mask, enable_gqa=True)
        return self.wo(o.transpose(1, 2).flatten(2))
