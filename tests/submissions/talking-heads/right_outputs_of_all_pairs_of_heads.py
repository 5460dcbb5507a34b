# expect: accepted
# problem: talking-heads
import torch
from torch import nn


class TalkingHeadsAttention(nn.Module):
    """P_w is linear, so it may wait until every softmax has met the values of every head."""

    def __init__(self, embed_dim, num_heads):
        super().__init__()
        assert embed_dim % num_heads == 0
        self.heads = num_heads
        self.in_proj = nn.Linear(embed_dim, 3 * embed_dim)
        self.mix1 = nn.Linear(num_heads, num_heads, bias=False)
        self.mix2 = nn.Linear(num_heads, num_heads, bias=False)
        self.out = nn.Linear(embed_dim, embed_dim)

    def forward(self, x, mask=None):
        q, k, v = (t.unflatten(-1, (self.heads, -1)) for t in self.in_proj(x).chunk(3, -1))
        s = torch.einsum("bihd,bjhd->bijh", q, k) * q.shape[-1] ** -0.5
        s = self.mix1(s).movedim(-1, 1)
        if mask is not None:
            s = s.masked_fill(mask == 0, -torch.inf)
        w = s.softmax(-1)
        pairs = torch.einsum("bgij,bjhd->bihgd", w, v)
        out = torch.einsum("bihgd,hg->bihd", pairs, self.mix2.weight)
        return self.out(out.flatten(2))
