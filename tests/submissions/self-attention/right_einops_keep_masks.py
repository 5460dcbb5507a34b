# expect: accepted
# problem: self-attention
import torch
from einops import rearrange
from torch import einsum, nn


def exists(value):
    return value is not None


class SelfAttention(nn.Module):
    """Masks are turned round at once: inside, True may be seen."""

    def __init__(self, dim, heads, dropout=0.0, bias=True, causal=False):
        super().__init__()
        assert dim % heads == 0, "heads must divide dim"
        self.heads = heads
        self.scale = (dim // heads) ** -0.5
        self.causal = causal
        self.to_qkv = nn.Linear(dim, dim * 3, bias=bias)
        self.attn_drop = nn.Dropout(dropout)
        self.to_out = nn.Linear(dim, dim, bias=bias)

    def forward(self, x, key_padding_mask=None, attn_mask=None, need_weights=False):
        n, device = x.shape[1], x.device
        qkv = self.to_qkv(x)
        q, k, v = rearrange(qkv, "b n (three h d) -> three b h n d", three=3, h=self.heads)
        sim = einsum("b h i d, b h j d -> b h i j", q * self.scale, k)

        keep = torch.ones((1, 1, n, n), dtype=torch.bool, device=device)
        if exists(key_padding_mask):
            keep = keep & rearrange(~key_padding_mask, "b j -> b 1 1 j")
        if exists(attn_mask) and attn_mask.dtype == torch.bool:
            keep = keep & ~attn_mask
        elif exists(attn_mask):
            sim = sim + attn_mask
        if self.causal:
            i = torch.arange(n, device=device)
            keep = keep & (rearrange(i, "i -> i 1") >= rearrange(i, "j -> 1 j"))

        sim = sim.masked_fill(~keep, -torch.finfo(sim.dtype).max)
        attn = sim.softmax(dim=-1)
        out = einsum("b h i j, b h j d -> b h i d", self.attn_drop(attn), v)
        out = self.to_out(rearrange(out, "b h n d -> b n (h d)"))
        return (out, attn) if need_weights else out


if __name__ == "__main__":
    print(SelfAttention(8, 2)(torch.randn(1, 4, 8)).shape)
