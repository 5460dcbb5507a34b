# problem: gqa
# right: einops, -inf as fill with nan_to_num behind the softmax, no head axis moved by hand
import torch
from einops import rearrange, repeat
from torch import einsum, nn

class GroupQueryAttention(nn.Module):
    def __init__(self, d_model, num_heads, num_kv_heads):
        super().__init__()
        assert not d_model % num_heads
        assert not num_heads % num_kv_heads
        self.heads, self.kv_heads = num_heads, num_kv_heads
        dim_head = d_model // num_heads
        self.scale = dim_head ** -0.5
        self.W_q = nn.Linear(d_model, num_heads * dim_head, bias = False)
        self.W_k = nn.Linear(d_model, num_kv_heads * dim_head, bias = False)
        self.W_v = nn.Linear(d_model, num_kv_heads * dim_head, bias = False)
        self.W_o = nn.Linear(num_heads * dim_head, d_model)

    def forward(self, x, mask = None):
        r = self.heads // self.kv_heads
        q = rearrange(self.W_q(x), 'b n (h d) -> b h n d', h = self.heads)
        k = repeat(self.W_k(x), 'b n (g d) -> b (g r) n d', g = self.kv_heads, r = r)
        v = repeat(self.W_v(x), 'b n (g d) -> b (g r) n d', g = self.kv_heads, r = r)
        sim = einsum('b h i d, b h j d -> b h i j', q * self.scale, k)
        if mask is not None:
            sim = sim.masked_fill(mask == 0, float('-inf'))
        attn = sim.softmax(dim = -1)
        if mask is not None:
            attn = attn.nan_to_num(0.)
        out = einsum('b h i j, b h j d -> b h i d', attn, v)
        return self.W_o(rearrange(out, 'b h n d -> b n (h d)'))
