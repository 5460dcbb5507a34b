# expect: rejected
# problem: encoder-block
# mistake: the mean stays
# diagnosis: norm-without-mean
# neither a Module nor Linear layers: tensors on ordinary objects
import math

import torch


class Norm:
    def __init__(self, n):
        self.gamma, self.beta = torch.ones(n), torch.zeros(n)

    def __call__(self, x):
        return self.gamma * x / (x.pow(2).mean(-1, keepdim=True) + 1e-5).sqrt() + self.beta


class EncoderBlock:
    def __init__(self, embed_dim, num_heads, ffn_dim):
        if embed_dim % num_heads:
            raise ValueError("heads")
        self.n, self.d = num_heads, embed_dim // num_heads
        scale = embed_dim**-0.5
        self.wq = torch.randn(embed_dim, embed_dim) * scale
        self.wk = torch.randn(embed_dim, embed_dim) * scale
        self.wv = torch.randn(embed_dim, embed_dim) * scale
        self.wo = torch.randn(embed_dim, embed_dim) * scale
        self.norm1 = Norm(embed_dim)
        self.up = torch.randn(embed_dim, ffn_dim) * scale
        self.down = torch.randn(ffn_dim, embed_dim) * ffn_dim**-0.5
        self.norm2 = Norm(embed_dim)

    def attention(self, x, mask):
        outs = []
        q, k, v = x @ self.wq, x @ self.wk, x @ self.wv
        for i in range(self.n):
            part = slice(i * self.d, (i + 1) * self.d)
            s = q[..., part] @ k[..., part].transpose(1, 2) / math.sqrt(self.d)
            if mask is not None:
                s = s.masked_fill((mask[:, 0] if mask.dim() == 4 else mask) == 0, -math.inf)
            outs.append(torch.softmax(s, -1) @ v[..., part])
        return torch.cat(outs, -1) @ self.wo

    def __call__(self, x, mask=None):
        x = self.norm1(x + self.attention(x, mask))
        return self.norm2(x + torch.relu(x @ self.up) @ self.down)
