# problem: gqa
# wrong: gradients flow back to the input; here the keys are computed from a detached x, so that the part through the keys is missing (parameters get theirs)
import torch
from torch import nn

class GroupQueryAttention(nn.Module):
    def __init__(self, d_model, num_heads, num_kv_heads):
        super().__init__()
        assert d_model % num_heads == 0 and num_heads % num_kv_heads == 0
        self.h, self.g = num_heads, num_kv_heads
        self.d = d_model // num_heads
        self.W_q = nn.Linear(d_model, d_model)
        self.W_k = nn.Linear(d_model, self.g * self.d)
        self.W_v = nn.Linear(d_model, self.g * self.d)
        self.W_o = nn.Linear(d_model, d_model)

    def forward(self, x, mask=None):
        b, l, e = x.shape
        memory = x.detach()
        q = self.W_q(x).view(b, l, self.h, self.d).transpose(1, 2)
        k = self.W_k(memory).view(b, l, self.g, self.d).transpose(1, 2)
        v = self.W_v(x).view(b, l, self.g, self.d).transpose(1, 2)
        r = self.h // self.g
        k = k.unsqueeze(2).expand(b, self.g, r, l, self.d).reshape(b, self.h, l, self.d)
        v = v.unsqueeze(2).expand(b, self.g, r, l, self.d).reshape(b, self.h, l, self.d)
        a = torch.einsum('bhid,bhjd->bhij', q, k) / self.d ** 0.5
        if mask is not None:
            a = torch.where(mask.bool(), a, torch.full_like(a, -1e9))
        o = torch.einsum('bhij,bhjd->bihd', a.softmax(-1), v)
        return self.W_o(o.reshape(b, l, e))
