# problem: gqa
# right: B and H flattened for torch.bmm, and the result is a tuple (output, weights)
import torch
import torch.nn as nn
import torch.nn.functional as F

class GroupQueryAttention(nn.Module):
    def __init__(self, d_model, num_heads, num_kv_heads):
        super().__init__()
        if d_model % num_heads != 0: raise ValueError("d_model")
        if num_heads % num_kv_heads != 0: raise ValueError("num_kv_heads")
        self.nh = num_heads
        self.nkv = num_kv_heads
        self.hd = d_model // num_heads
        self.W_q = nn.Linear(d_model, self.nh * self.hd)
        self.W_k = nn.Linear(d_model, self.nkv * self.hd)
        self.W_v = nn.Linear(d_model, self.nkv * self.hd)
        self.W_o = nn.Linear(self.nh * self.hd, d_model)

    def heads(self, t, n):
        b, l, _ = t.shape
        t = t.reshape(b, l, n, self.hd).permute(0, 2, 1, 3)
        if n != self.nh:
            t = torch.stack([t] * (self.nh // n), dim=2).flatten(1, 2)
        return t.reshape(b * self.nh, l, self.hd)

    def forward(self, x, mask=None):
        b, l, e = x.shape
        q = self.heads(self.W_q(x), self.nh)
        k = self.heads(self.W_k(x), self.nkv)
        v = self.heads(self.W_v(x), self.nkv)
        a = torch.bmm(q / self.hd ** 0.5, k.transpose(1, 2)).reshape(b, self.nh, l, l)
        if mask is not None:
            a = a.masked_fill(mask == 0, -1e9)
        a = F.softmax(a, dim=-1)
        o = torch.bmm(a.reshape(b * self.nh, l, l), v)
        o = o.reshape(b, self.nh, l, self.hd).permute(0, 2, 1, 3).reshape(b, l, e)
        return self.W_o(o), a
