# expect: rejected
# problem: fused-qkv
# mistake: one map E → E gives q, k and v alike
# diagnosis: map-too-narrow
import torch
from torch import nn


class SelfAttention(nn.Module):
    def __init__(self, embed_size, heads):
        super().__init__()
        assert embed_size % heads == 0
        self.heads = heads
        self.qkv = nn.Linear(embed_size, embed_size, bias=False)
        self.fc_out = nn.Linear(embed_size, embed_size)

    def forward(self, x, mask=None):
        q = k = v = self.qkv(x).unflatten(-1, (self.heads, -1)).transpose(1, 2)
        energy = q @ k.mT / q.shape[-1] ** 0.5
        if mask is not None:
            energy = energy.masked_fill(mask == 0, float("-1e20"))
        return self.fc_out((torch.softmax(energy, dim=3) @ v).transpose(1, 2).flatten(2))
