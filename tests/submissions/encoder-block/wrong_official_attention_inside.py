# expect: rejected
# problem: encoder-block
# mistake: nn.MultiheadAttention does the work
# diagnosis: fused-attention
import torch
import torch.nn as nn


class TransformerBlock(nn.Module):
    def __init__(self, embed_dim, num_heads, ff_dim, rate=0.1):
        super().__init__()
        self.att = nn.MultiheadAttention(embed_dim, num_heads, batch_first=True)
        self.ffn = nn.Sequential(
            nn.Linear(embed_dim, ff_dim),
            nn.ReLU(),
            nn.Linear(ff_dim, embed_dim),
        )
        self.layernorm1 = nn.LayerNorm(embed_dim, eps=1e-6)
        self.layernorm2 = nn.LayerNorm(embed_dim, eps=1e-6)
        self.dropout1 = nn.Dropout(rate)
        self.dropout2 = nn.Dropout(rate)

    def forward(self, inputs, mask=None):
        if mask is not None:
            b, n, _ = inputs.shape
            mask = (mask == 0).expand(b, self.att.num_heads, n, n).flatten(0, 1)
        attn_output, _ = self.att(inputs, inputs, inputs, attn_mask=mask)
        out1 = self.layernorm1(inputs + self.dropout1(attn_output))
        return self.layernorm2(out1 + self.dropout2(self.ffn(out1)))
