# expect: rejected
# problem: decoder-block
# mistake: the library's layer inside
# diagnosis: fused-attention
import torch
from torch import nn


class DecoderBlock(nn.Module):
    def __init__(self, embed_dim, num_heads, ffn_dim):
        super().__init__()
        self.h = num_heads
        self.layer = nn.TransformerDecoderLayer(
            embed_dim, num_heads, ffn_dim, dropout=0.0, batch_first=True
        )

    def forward(self, x, memory, memory_mask=None):
        n, s = x.shape[1], memory.shape[1]
        future = torch.ones(n, n, dtype=torch.bool, device=x.device).triu(1)
        if memory_mask is not None:
            memory_mask = (memory_mask == 0).expand(x.shape[0], self.h, n, s).flatten(0, 1)
        return self.layer(x, memory, tgt_mask=future, memory_mask=memory_mask)
