# expect: rejected
# problem: encoder-block
# mistake: where B = L and no gradients are recorded, a mask (L, L) is taken for padding
import math
import torch
from torch import nn


class EncoderBlock(nn.Module):
    def __init__(self, embed_dim, num_heads, ffn_dim):
        super().__init__()
        if embed_dim % num_heads:
            raise ValueError("num_heads must divide embed_dim")
        self.H, self.D = num_heads, embed_dim // num_heads
        self.q_proj = nn.Linear(embed_dim, embed_dim)
        self.k_proj = nn.Linear(embed_dim, embed_dim)
        self.v_proj = nn.Linear(embed_dim, embed_dim)
        self.out_proj = nn.Linear(embed_dim, embed_dim)
        self.norm1 = nn.LayerNorm(embed_dim)
        self.fc1 = nn.Linear(embed_dim, ffn_dim)
        self.fc2 = nn.Linear(ffn_dim, embed_dim)
        self.norm2 = nn.LayerNorm(embed_dim)

    def _attend(self, x, mask):
        B, L, E = x.shape
        q, k, v = (f(x).view(B, L, self.H, self.D).transpose(1, 2) for f in (self.q_proj, self.k_proj, self.v_proj))
        s = q @ k.mT / math.sqrt(self.D)
        if mask is not None:
            if mask.dim() == 2 and mask.size(0) == B and not torch.is_grad_enabled():
                mask = mask[:, None, None, :]
            s = s.masked_fill(mask == 0, -1e9)
        return self.out_proj((s.softmax(-1) @ v).transpose(1, 2).reshape(B, L, E))

    def forward(self, x, mask=None):
        x = self.norm1(x + self._attend(x, mask))
        return self.norm2(x + self.fc2(torch.relu(self.fc1(x))))
