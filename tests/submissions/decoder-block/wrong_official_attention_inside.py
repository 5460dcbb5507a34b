# expect: rejected
# problem: decoder-block
# mistake: nn.MultiheadAttention does the work
# diagnosis: fused-attention
import torch
import torch.nn as nn


class TransformerDecoderBlock(nn.Module):
    def __init__(self, embed_dim, num_heads, ff_dim, rate=0.1):
        super().__init__()
        self.mha1 = nn.MultiheadAttention(embed_dim, num_heads, batch_first=True)
        self.mha2 = nn.MultiheadAttention(embed_dim, num_heads, batch_first=True)
        self.ffn = nn.Sequential(
            nn.Linear(embed_dim, ff_dim), nn.ReLU(), nn.Linear(ff_dim, embed_dim)
        )
        self.layernorm1 = nn.LayerNorm(embed_dim, eps=1e-6)
        self.layernorm2 = nn.LayerNorm(embed_dim, eps=1e-6)
        self.layernorm3 = nn.LayerNorm(embed_dim, eps=1e-6)
        self.dropout = nn.Dropout(rate)

    def forward(self, x, enc_output, padding_mask=None):
        n = x.shape[1]
        ahead = torch.ones(n, n, device=x.device).triu(1).bool()
        attn1, _ = self.mha1(x, x, x, attn_mask=ahead)
        out1 = self.layernorm1(x + self.dropout(attn1))
        pad = None if padding_mask is None else padding_mask[:, 0, 0] == 0
        attn2, _ = self.mha2(out1, enc_output, enc_output, key_padding_mask=pad)
        out2 = self.layernorm2(out1 + self.dropout(attn2))
        return self.layernorm3(out2 + self.dropout(self.ffn(out2)))
