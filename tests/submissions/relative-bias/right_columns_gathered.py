# expect: accepted
# problem: relative-bias
import torch
from einops import rearrange
from torch import einsum, nn


class RelPosAttention(nn.Module):
    """The table as (heads, distances); each row of scores is a stretch of one line of biases."""

    def __init__(self, heads, dim, max_distance=16):
        super().__init__()
        if dim % heads:
            raise ValueError("dim % heads")
        self.heads, self.reach = heads, max_distance
        self.relative_bias = nn.Parameter(torch.zeros(heads, 2 * max_distance + 1))
        self.to_out = nn.Linear(dim, dim)
        self.to_kv = nn.Linear(dim, 2 * dim, bias=False)
        self.to_q = nn.Linear(dim, dim, bias=False)

    def forward(self, x):
        n = x.shape[1]
        q, (k, v) = self.to_q(x), self.to_kv(x).chunk(2, dim=-1)
        q, k, v = (rearrange(t, "b n (h d) -> b h n d", h=self.heads) for t in (q, k, v))
        sim = einsum("b h i d, b h j d -> b h i j", q, k) * q.shape[-1] ** -0.5
        line = torch.arange(1 - n, n, device=x.device).clamp(-self.reach, self.reach)
        line = self.relative_bias[:, line + self.reach]  # distances 1 - n ... n - 1
        bias = line.unfold(1, n, 1).flip(1)  # window i starts at distance -i
        attn = (sim + bias).softmax(dim=-1)
        out = einsum("b h i j, b h j d -> b h i d", attn, v)
        return self.to_out(rearrange(out, "b h n d -> b n (h d)"))
