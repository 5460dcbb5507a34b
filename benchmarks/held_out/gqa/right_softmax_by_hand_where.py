# problem: gqa
# right: stable softmax by hand, blocked keys multiplied away exactly, works with fully blocked queries
import torch
from torch import nn


def masked_softmax(scores, keep):
    if keep is not None:
        scores = torch.where(keep, scores, torch.finfo(scores.dtype).min)
    shifted = scores - scores.max(dim=-1, keepdim=True).values
    e = torch.exp(shifted)
    if keep is not None:
        e = e * keep.to(e.dtype)
    total = e.sum(dim=-1, keepdim=True)
    return e / total.clamp_min(torch.finfo(total.dtype).tiny)


class GroupQueryAttention(nn.Module):
    def __init__(self, d_model, num_heads, num_kv_heads):
        super().__init__()
        if num_heads < 1 or d_model % num_heads != 0:
            raise ValueError("num_heads has to divide d_model")
        if num_kv_heads < 1 or num_heads % num_kv_heads != 0:
            raise ValueError("num_kv_heads has to divide num_heads")
        self.H, self.G, self.D = num_heads, num_kv_heads, d_model // num_heads
        self.W_q = nn.Linear(d_model, d_model)
        self.W_k = nn.Linear(d_model, self.G * self.D)
        self.W_v = nn.Linear(d_model, self.G * self.D)
        self.W_o = nn.Linear(d_model, d_model)

    def split(self, t, n):
        return t.reshape(*t.shape[:2], n, self.D).permute(0, 2, 1, 3)

    def forward(self, x, mask=None):
        q = self.split(self.W_q(x), self.H)
        k = self.split(self.W_k(x), self.G).repeat_interleave(self.H // self.G, dim=1)
        v = self.split(self.W_v(x), self.G).repeat_interleave(self.H // self.G, dim=1)
        s = torch.einsum("bhld,bhmd->bhlm", q, k).div(self.D**0.5)
        if s.dtype in (torch.float16, torch.bfloat16):
            w = masked_softmax(s.float(), None if mask is None else mask != 0).to(s.dtype)
        else:
            w = masked_softmax(s, None if mask is None else mask != 0)
        o = torch.einsum("bhlm,bhmd->bhld", w, v)
        return self.W_o(o.permute(0, 2, 1, 3).flatten(2))
