# expect: rejected
# problem: gqa
# mistake: k and v are tiled, and the mask is added
# diagnosis: groups-tiled, mask-added

import torch, math
import torch.nn as nn

class GQA(nn.Module):
    def __init__(self, embed_dim, num_heads, num_kv_heads):
        super().__init__()
        assert embed_dim % num_heads == 0 and num_heads % num_kv_heads == 0
        self.n_h, self.n_kv, self.hd = num_heads, num_kv_heads, embed_dim // num_heads
        self.q_proj = nn.Linear(embed_dim, num_heads * self.hd, bias=False)
        self.k_proj = nn.Linear(embed_dim, num_kv_heads * self.hd, bias=False)
        self.v_proj = nn.Linear(embed_dim, num_kv_heads * self.hd, bias=False)
        self.o_proj = nn.Linear(num_heads * self.hd, embed_dim, bias=False)

    def forward(self, x, mask=None):
        B, T, C = x.shape
        q = self.q_proj(x).view(B, T, self.n_h, self.hd).transpose(1, 2)
        k = self.k_proj(x).view(B, T, self.n_kv, self.hd).transpose(1, 2)
        v = self.v_proj(x).view(B, T, self.n_kv, self.hd).transpose(1, 2)
        rep = self.n_h // self.n_kv
        k, v = k.repeat(1, rep, 1, 1), v.repeat(1, rep, 1, 1)
        att = q @ k.transpose(-1, -2) / math.sqrt(self.hd)
        if mask is not None:
            att = att + mask.to(att.dtype)
        y = att.softmax(-1) @ v
        return self.o_proj(y.transpose(1, 2).reshape(B, T, C))
