# expect: rejected
# problem: encoder-block
# mistake: the offset of the norm is added before the scale multiplies
import torch
import torch.nn as nn
import torch.nn.functional as F


class Normalize(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(width))
        self.offset = nn.Parameter(torch.zeros(width))

    def forward(self, inputs):
        variance, mean = torch.var_mean(inputs, dim=-1, correction=0, keepdim=True)
        return ((inputs - mean) * torch.rsqrt(variance + 1e-5) + self.offset) * self.scale


class EncoderBlock(nn.Module):
    def __init__(self, embed_dim, num_heads, ffn_dim):
        super().__init__()
        if embed_dim % num_heads != 0:
            raise ValueError("num_heads must divide embed_dim")
        self.heads = num_heads
        self.query = nn.Linear(embed_dim, embed_dim)
        self.key = nn.Linear(embed_dim, embed_dim)
        self.value = nn.Linear(embed_dim, embed_dim)
        self.output = nn.Linear(embed_dim, embed_dim)
        self.attention_norm = Normalize(embed_dim)
        self.expand = nn.Linear(embed_dim, ffn_dim)
        self.contract = nn.Linear(ffn_dim, embed_dim)
        self.output_norm = Normalize(embed_dim)

    def attention(self, x, mask):
        q, k, v = [
            t.unflatten(-1, (self.heads, -1)).transpose(1, 2)
            for t in (self.query(x), self.key(x), self.value(x))
        ]
        logits = torch.matmul(q, k.mT) * q.size(-1) ** -0.5
        if mask is not None:
            logits = torch.where(mask == 0, torch.finfo(logits.dtype).min, logits)
        return self.output(torch.matmul(F.softmax(logits, dim=-1), v).transpose(1, 2).flatten(2))

    def forward(self, x, mask=None):
        x = self.attention_norm(x + self.attention(x, mask))
        return self.output_norm(x + self.contract(F.relu(self.expand(x))))
