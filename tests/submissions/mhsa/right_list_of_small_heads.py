# expect: accepted
# problem: mhsa
import torch
import torch.nn as nn
import torch.nn.functional as F


class Head(nn.Module):
    """one head of self-attention"""

    def __init__(self, n_embd, head_size):
        super().__init__()
        self.key = nn.Linear(n_embd, head_size, bias=False)
        self.query = nn.Linear(n_embd, head_size, bias=False)
        self.value = nn.Linear(n_embd, head_size, bias=False)

    def forward(self, x, mask):
        k, q = self.key(x), self.query(x)
        wei = q @ k.transpose(-2, -1) * k.shape[-1] ** -0.5
        if mask is not None:
            wei = wei.masked_fill(mask == 0, float("-inf"))
        return F.softmax(wei, dim=-1) @ self.value(x)


class MultiHeadAttention(nn.Module):
    """multiple heads of self-attention, one after the other"""

    def __init__(self, n_embd, num_heads):
        super().__init__()
        head_size, rest = divmod(n_embd, num_heads)
        assert not rest
        self.heads = nn.ModuleList([Head(n_embd, head_size) for _ in range(num_heads)])
        self.proj = nn.Linear(n_embd, n_embd)

    def mask_of(self, mask, number):
        if mask is None or mask.dim() == 2:
            return mask
        return mask[:, number if mask.shape[1] > 1 else 0]

    def forward(self, x, mask=None):
        out = [head(x, self.mask_of(mask, i)) for i, head in enumerate(self.heads)]
        return self.proj(torch.cat(out, dim=-1))
