# expect: accepted
# problem: encoder-block
import torch
import torch.nn as nn
import torch.nn.functional as F


class Normalize(nn.Module):
    """Written out, with the parameter names of an older library."""

    def __init__(self, width, epsilon=1e-6):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(width))
        self.offset = nn.Parameter(torch.zeros(width))
        self.epsilon = epsilon

    def forward(self, inputs):
        variance, mean = torch.var_mean(inputs, dim=-1, correction=0, keepdim=True)
        normalized = (inputs - mean) * torch.rsqrt(variance + self.epsilon)
        return normalized * self.scale + self.offset


class Attention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        if width % heads != 0:
            raise ValueError("heads must divide width")
        self.heads = heads
        self.query = nn.Linear(width, width)
        self.key = nn.Linear(width, width)
        self.value = nn.Linear(width, width)
        self.output = nn.Linear(width, width)

    def forward(self, x, mask):
        q, k, v = [
            t.unflatten(-1, (self.heads, -1)).transpose(1, 2)
            for t in (self.query(x), self.key(x), self.value(x))
        ]
        logits = torch.matmul(q, k.mT) * q.size(-1) ** -0.5
        if mask is not None:
            logits = torch.where(mask == 0, torch.finfo(logits.dtype).min, logits)
        return self.output(torch.matmul(F.softmax(logits, dim=-1), v).transpose(1, 2).flatten(2))


class EncoderBlock(nn.Module):
    def __init__(self, embed_dim, num_heads, ffn_dim):
        super().__init__()
        self.attention = Attention(embed_dim, num_heads)
        self.attention_norm = Normalize(embed_dim)
        self.expand = nn.Linear(embed_dim, ffn_dim)
        self.contract = nn.Linear(ffn_dim, embed_dim)
        self.output_norm = Normalize(embed_dim)

    def forward(self, x, mask=None):
        x = self.attention_norm(x + self.attention(x, mask))
        return self.output_norm(x + self.contract(F.relu(self.expand(x))))
