# expect: accepted
# problem: gqa
import torch
from torch import nn


class GroupedQueryAttention(nn.Module):
    """Raw (E, heads·D) matrices, broadcasting over the group instead of repeating."""

    def __init__(self, embed_dim, num_heads, num_kv_heads):
        super().__init__()
        d, left = divmod(embed_dim, num_heads)
        r, over = divmod(num_heads, num_kv_heads)
        if left or over:
            raise ValueError("sizes")
        self.shape = (num_kv_heads, r, d)
        self.wq = nn.Parameter(torch.randn(embed_dim, embed_dim) * embed_dim**-0.5)
        self.wkv = nn.Parameter(torch.randn(embed_dim, 2 * num_kv_heads * d) * embed_dim**-0.5)
        self.wo = nn.Parameter(torch.randn(embed_dim, embed_dim) * embed_dim**-0.5)

    def forward(self, x, mask=None):
        g, r, d = self.shape
        q = (x @ self.wq).unflatten(-1, (g, r, d)).permute(0, 2, 3, 1, 4)
        k, v = ((x @ self.wkv).unflatten(-1, (2, g, d)).permute(2, 0, 3, 1, 4)).unsqueeze(3)
        s = (q @ k.mT) / d**0.5
        if mask is not None:
            if mask.dim() == 4:
                mask = mask.unflatten(1, (g, r)) if mask.shape[1] == g * r else mask.unsqueeze(1)
            s = s.masked_fill(mask == 0, -torch.inf)
        y = s.softmax(dim=-1) @ v
        return y.permute(0, 3, 1, 2, 4).flatten(2) @ self.wo
