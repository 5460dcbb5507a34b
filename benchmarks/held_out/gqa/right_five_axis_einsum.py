# problem: gqa
# right: einsum over (batch, group, member, query, key), the mask is expanded to all heads and unflattened into groups
import torch
import torch.nn as nn

class GroupQueryAttention(nn.Module):
    def __init__(self, d_model, num_heads, num_kv_heads):
        super().__init__()
        if d_model % num_heads != 0 or num_heads % num_kv_heads != 0:
            raise ValueError('bad number of heads')
        self.h, self.g = num_heads, num_kv_heads
        self.r = num_heads // num_kv_heads
        self.d = d_model // num_heads
        self.W_q = nn.Linear(d_model, d_model)
        self.W_k = nn.Linear(d_model, self.g * self.d)
        self.W_v = nn.Linear(d_model, self.g * self.d)
        self.W_o = nn.Linear(d_model, d_model)

    def forward(self, x, mask=None):
        b, l, _ = x.shape
        q = self.W_q(x).unflatten(-1, (self.g, self.r, self.d))     # b l g r d
        k = self.W_k(x).unflatten(-1, (self.g, self.d))             # b l g d
        v = self.W_v(x).unflatten(-1, (self.g, self.d))
        s = torch.einsum('blgrd,bmgd->bgrlm', q, k) * self.d ** -0.5
        if mask is not None:
            m = mask.ne(0).expand(b, self.h, l, l).unflatten(1, (self.g, self.r))
            s = torch.where(m, s, torch.full_like(s, -1e9))
        p = s.softmax(-1)
        o = torch.einsum('bgrlm,bmgd->blgrd', p, v)
        return self.W_o(o.flatten(2))
