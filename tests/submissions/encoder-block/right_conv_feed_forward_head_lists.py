# expect: accepted
# problem: encoder-block
import torch
from torch import nn
from torch.nn import functional as F


class Head(nn.Module):
    def __init__(self, n_embd, head_size):
        super().__init__()
        self.key = nn.Linear(n_embd, head_size, bias=False)
        self.query = nn.Linear(n_embd, head_size, bias=False)
        self.value = nn.Linear(n_embd, head_size, bias=False)

    def forward(self, x, mask):
        q, k, v = self.query(x), self.key(x), self.value(x)
        wei = q @ k.transpose(-2, -1) * k.shape[-1] ** -0.5
        if mask is not None:
            wei = wei.masked_fill(mask == 0, float("-inf"))
        return F.softmax(wei, dim=-1) @ v


class FeedForward(nn.Module):
    def __init__(self, n_embd, n_hidden):
        super().__init__()
        self.w_1 = nn.Conv1d(n_embd, n_hidden, 1)
        self.w_2 = nn.Conv1d(n_hidden, n_embd, 1)

    def forward(self, x):
        return self.w_2(F.relu(self.w_1(x.transpose(1, 2)))).transpose(1, 2)


class TransformerBlock(nn.Module):
    def __init__(self, n_embd, n_head, d_inner):
        super().__init__()
        assert n_embd % n_head == 0
        self.ln_ffn = nn.LayerNorm(n_embd)
        self.heads = nn.ModuleList([Head(n_embd, n_embd // n_head) for _ in range(n_head)])
        self.proj = nn.Linear(n_embd, n_embd)
        self.ffwd = FeedForward(n_embd, d_inner)
        self.ln_attn = nn.LayerNorm(n_embd)

    def forward(self, x, mask=None):
        if mask is not None and mask.dim() == 4:
            mask = mask[:, 0]
        a = self.proj(torch.cat([h(x, mask) for h in self.heads], dim=-1))
        x = self.ln_attn(x + a)
        return self.ln_ffn(x + self.ffwd(x))
