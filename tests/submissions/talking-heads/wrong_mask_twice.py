# expect: rejected
# problem: talking-heads
# mistake: the mask is applied to the mixed weights again
# diagnosis: mask-after-weights-map
import torch
from torch import nn


class TalkingHeadsAttention(nn.Module):
    def __init__(self, embed_dim, num_heads):
        super().__init__()
        assert embed_dim % num_heads == 0
        self.h = num_heads
        self.wq, self.wk, self.wv, self.wo = (nn.Linear(embed_dim, embed_dim) for _ in range(4))
        self.P_l = nn.Parameter(torch.eye(num_heads))
        self.P_w = nn.Parameter(torch.eye(num_heads))

    def forward(self, x, mask=None):
        q, k, v = (m(x).unflatten(2, (self.h, -1)).transpose(1, 2) for m in (self.wq, self.wk, self.wv))
        s = torch.einsum("hg,bgij->bhij", self.P_l, q @ k.mT / q.shape[-1] ** 0.5)
        if mask is not None:
            s = s.masked_fill(mask == 0, -torch.inf)
        w = torch.einsum("hg,bgij->bhij", self.P_w, s.softmax(-1))
        if mask is not None:
            w = w * (mask != 0)
        return self.wo((w @ v).transpose(1, 2).flatten(2))
