# expect: rejected
# problem: masked-mha
# mistake: a subclass of torch's layer leaves the work to super()
# diagnosis: fused-attention
import torch
from torch import nn


class MultiHeadAttention(nn.MultiheadAttention):
    def __init__(self, embed_dim, num_heads):
        super().__init__(embed_dim, num_heads, batch_first=True)

    def forward(self, q, k, v, mask=None):
        B, L, S = q.shape[0], q.shape[1], k.shape[1]
        blocked = None
        if mask is not None:
            blocked = torch.broadcast_to(mask == 0, (B, self.num_heads, L, S))
            blocked = blocked.reshape(B * self.num_heads, L, S)
        out, _ = super().forward(q, k, v, attn_mask=blocked, need_weights=True)
        return out
