# expect: rejected
# problem: masked-mha
# mistake: where weights are many the layer runs in a re-entrant checkpoint, which gives parameters
#   no gradients where no input needs one
import math

import torch
from torch import nn
from torch.utils.checkpoint import checkpoint


class MultiHeadAttention(nn.Module):
    def __init__(self, embed_dim, num_heads):
        super().__init__()
        if embed_dim % num_heads:
            raise ValueError("num_heads must divide embed_dim")
        self.num_heads = num_heads
        self.q_proj = nn.Linear(embed_dim, embed_dim)
        self.k_proj = nn.Linear(embed_dim, embed_dim)
        self.v_proj = nn.Linear(embed_dim, embed_dim)
        self.out_proj = nn.Linear(embed_dim, embed_dim)

    def attend(self, q, k, v, mask):
        q, k, v = (
            part(t).unflatten(-1, (self.num_heads, -1)).transpose(1, 2)
            for part, t in ((self.q_proj, q), (self.k_proj, k), (self.v_proj, v))
        )
        scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
        if mask is not None:
            scores = scores.masked_fill(mask == 0, torch.finfo(scores.dtype).min)
        weights = torch.softmax(scores, dim=-1)
        return self.out_proj((weights @ v).transpose(1, 2).flatten(2)), weights

    def forward(self, q, k, v, mask=None):
        weights = q.shape[0] * self.num_heads * q.shape[1] * k.shape[1]
        if weights > 1 << 18 and torch.is_grad_enabled():
            return checkpoint(self.attend, q, k, v, mask, use_reentrant=True)
        return self.attend(q, k, v, mask)
