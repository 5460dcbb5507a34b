# problem: gqa
# right: a Python loop over the query heads with slices of the projections, float32 inside for half precision, torch.cat at the end
import math, torch
from torch import nn

class GroupQueryAttention(nn.Module):
    def __init__(self, d_model, num_heads, num_kv_heads):
        super().__init__()
        if d_model % num_heads: raise ValueError
        if num_heads % num_kv_heads: raise ValueError
        self.H = num_heads
        self.D = d_model // num_heads
        self.per = num_heads // num_kv_heads
        self.W_q = nn.Linear(d_model, d_model)
        self.W_k = nn.Linear(d_model, self.D * num_kv_heads)
        self.W_v = nn.Linear(d_model, self.D * num_kv_heads)
        self.W_o = nn.Linear(d_model, d_model)

    def forward(self, x, mask=None):
        dt = x.dtype
        up = torch.float64 if dt == torch.float64 else torch.float32
        Q, K, V = self.W_q(x).to(up), self.W_k(x).to(up), self.W_v(x).to(up)
        B, L, D = x.size(0), x.size(1), self.D
        allow = None
        if mask is not None:
            allow = (mask != 0).expand(B, self.H, L, L)
        outs = []
        for h in range(self.H):
            g = h // self.per
            qh = Q[..., h*D:(h+1)*D]
            kg = K[..., g*D:(g+1)*D]
            vg = V[..., g*D:(g+1)*D]
            s = torch.bmm(qh, kg.transpose(1, 2)) / math.sqrt(D)
            if allow is not None:
                s = s.masked_fill(~allow[:, h], -1e9)
            outs.append(torch.bmm(s.softmax(dim=2), vg))
        return self.W_o(torch.cat(outs, dim=2).to(dt))
