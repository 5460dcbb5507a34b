# expect: accepted
# problem: kv-cache-step
import torch
import torch.nn as nn


class Conv1D(nn.Module):
    """A linear layer with a transposed weight, as in GPT-2."""

    def __init__(self, nx, nf):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(nx, nf))
        self.bias = nn.Parameter(torch.zeros(nf))
        nn.init.normal_(self.weight, std=0.02)

    def forward(self, x):
        return x @ self.weight + self.bias


class CachedSelfAttention(nn.Module):
    def __init__(self, n_embd, n_head):
        super().__init__()
        assert n_embd % n_head == 0
        self.n_head = n_head
        self.c_attn = Conv1D(n_embd, 3 * n_embd)
        self.c_proj = Conv1D(n_embd, n_embd)

    def split_heads(self, x):
        return x.view(*x.shape[:-1], self.n_head, -1).permute(0, 2, 1, 3)

    def merge_heads(self, x):
        x = x.permute(0, 2, 1, 3).contiguous()
        return x.view(*x.shape[:-2], -1)

    def forward(self, x, layer_past=None):
        query, key, value = map(self.split_heads, self.c_attn(x).chunk(3, dim=-1))
        if layer_past is not None:
            key = torch.cat((layer_past[0], key), dim=-2)
            value = torch.cat((layer_past[1], value), dim=-2)
        present = (key, value)
        w = query @ key.transpose(-1, -2) / value.size(-1) ** 0.5
        nd, ns = w.size(-2), w.size(-1)
        i = torch.arange(nd, device=w.device)[:, None]
        j = torch.arange(ns, device=w.device)
        w = torch.where(i >= j - ns + nd, w, -1e10)
        return self.c_proj(self.merge_heads(w.softmax(-1) @ value)), present
