# expect: accepted
# problem: talking-heads
import torch
from torch import nn


class TalkingHeadsSelfAttention(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        assert d_model % n_heads == 0
        self.n_heads, self.d_head = n_heads, d_model // n_heads
        self.q_proj = nn.Linear(d_model, d_model)
        self.k_proj = nn.Linear(d_model, d_model)
        self.v_proj = nn.Linear(d_model, d_model)
        self.out_proj = nn.Linear(d_model, d_model)
        self.pre_softmax_talking_heads = nn.Conv2d(n_heads, n_heads, 1, bias=False)
        self.post_softmax_talking_heads = nn.Conv2d(n_heads, n_heads, 1, bias=False)

    def forward(self, x, mask=None):
        b, n, _ = x.shape
        q, k, v = (
            m(x).view(b, n, self.n_heads, self.d_head).transpose(1, 2)
            for m in (self.q_proj, self.k_proj, self.v_proj)
        )
        scores = torch.matmul(q, k.transpose(-1, -2)) * self.d_head**-0.5
        scores = self.pre_softmax_talking_heads(scores)
        if mask is not None:
            scores = scores.masked_fill(mask == 0, -1e30)
        attn = self.post_softmax_talking_heads(scores.softmax(dim=-1))
        return self.out_proj(torch.matmul(attn, v).transpose(1, 2).flatten(2)), attn
