# expect: rejected
# problem: talking-heads
# mistake: the matrix of a Linear is used as (in, out)
# diagnosis: head-maps-transposed
import torch
from torch import einsum, nn


class TalkingHeadsAttention(nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()
        assert d_model % num_heads == 0
        self.h = num_heads
        self.to_qkv = nn.Linear(d_model, 3 * d_model, bias=False)
        self.talk_pre = nn.Linear(num_heads, num_heads, bias=False)
        self.talk_post = nn.Linear(num_heads, num_heads, bias=False)
        self.to_out = nn.Linear(d_model, d_model)

    def forward(self, x, mask=None):
        q, k, v = self.to_qkv(x).unflatten(-1, (3, self.h, -1)).permute(2, 0, 3, 1, 4)
        s = einsum("bhid,bhjd->bhij", q, k) * q.shape[-1] ** -0.5
        s = einsum("bhij,hg->bgij", s, self.talk_pre.weight)
        if mask is not None:
            s = s.masked_fill(mask == 0, -torch.finfo(s.dtype).max)
        a = einsum("bhij,hg->bgij", s.softmax(-1), self.talk_post.weight)
        return self.to_out(einsum("bhij,bhjd->bihd", a, v).flatten(2))
