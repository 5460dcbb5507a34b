# expect: rejected
# problem: fused-qkv
# mistake: the third slice repeats the second
# diagnosis: values-are-keys
import torch
from torch import nn


class FusedSelfAttention(nn.Module):
    def __init__(self, embed_dim, num_heads):
        super().__init__()
        assert embed_dim % num_heads == 0
        self.h, self.e = num_heads, embed_dim
        self.qkv_proj = nn.Linear(embed_dim, 3 * embed_dim)
        self.o_proj = nn.Linear(embed_dim, embed_dim)

    def forward(self, x, mask=None):
        e, qkv = self.e, self.qkv_proj(x)
        q, k, v = qkv[..., :e], qkv[..., e : 2 * e], qkv[..., e : 2 * e]
        q, k, v = (torch.stack(t.chunk(self.h, -1), 1) for t in (q, k, v))
        s = q @ k.mT / q.shape[-1] ** 0.5
        if mask is not None:
            s = s.masked_fill(mask == 0, -1e9)
        return self.o_proj(torch.cat((s.softmax(-1) @ v).unbind(1), -1))
