# expect: rejected
# problem: encoder-block
# mistake: the library's layer under another name
# diagnosis: fused-attention
import torch
from torch import nn


class EncoderBlock(nn.TransformerEncoderLayer):
    def __init__(self, embed_dim, num_heads, ffn_dim):
        super().__init__(embed_dim, num_heads, ffn_dim, dropout=0.0, batch_first=True)
        self.h = num_heads

    def forward(self, x, mask=None):
        if mask is not None:
            b, l, _ = x.shape
            mask = (mask == 0).expand(b, self.h, l, l).reshape(-1, l, l)
        return super().forward(x, src_mask=mask)
