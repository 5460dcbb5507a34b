# problem: gqa
# right: five-axis matmul in which the key and value heads broadcast over an axis of size 1; additive bias of finite numbers
import torch
from torch import nn


class GroupQueryAttention(nn.Module):

    def __init__(self, d_model, num_heads, num_kv_heads):
        super(GroupQueryAttention, self).__init__()
        self.head_dim, rest = divmod(d_model, num_heads)
        self.group_size, rest2 = divmod(num_heads, num_kv_heads)
        if rest or rest2:
            raise ValueError("d_model % num_heads and num_heads % num_kv_heads must be 0")
        self.num_heads = num_heads
        self.num_kv_heads = num_kv_heads
        kv_width = num_kv_heads * self.head_dim
        self.W_q = nn.Linear(d_model, d_model)
        self.W_k = nn.Linear(d_model, kv_width)
        self.W_v = nn.Linear(d_model, kv_width)
        self.W_o = nn.Linear(d_model, d_model)

    def _bias(self, mask, like):
        bias = torch.zeros(mask.shape, dtype=like.dtype, device=like.device)
        bias = bias.masked_fill(mask == 0, torch.finfo(like.dtype).min / 2)
        if bias.dim() == 4:
            if bias.size(1) == 1:
                bias = bias.unsqueeze(2)                       # (B, 1, 1, ?, L)
            else:
                bias = bias.unflatten(1, (self.num_kv_heads, self.group_size))
        return bias                                            # (L, L) broadcasts as it is

    def forward(self, x, mask=None):
        B, L, _ = x.shape
        q = self.W_q(x).reshape(B, L, self.num_kv_heads, self.group_size, self.head_dim)
        q = q.permute(0, 2, 3, 1, 4)                           # (B, G, R, L, D)
        k = self.W_k(x).reshape(B, L, self.num_kv_heads, 1, self.head_dim).permute(0, 2, 3, 1, 4)
        v = self.W_v(x).reshape(B, L, self.num_kv_heads, 1, self.head_dim).permute(0, 2, 3, 1, 4)
        logits = torch.matmul(q, k.transpose(-1, -2)) / self.head_dim ** 0.5
        if mask is not None:
            logits = logits + self._bias(mask, logits)
        heads = torch.matmul(logits.softmax(dim=-1), v)        # (B, G, R, L, D)
        heads = heads.permute(0, 3, 1, 2, 4).reshape(B, L, -1)
        return self.W_o(heads)
