# expect: accepted
# problem: fused-qkv
import torch
import torch.nn as nn


class Conv1D(nn.Module):
    """A linear map that keeps its weight as (in, out)."""

    def __init__(self, nf, nx):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(nx, nf))
        self.bias = nn.Parameter(torch.zeros(nf))
        nn.init.normal_(self.weight, std=0.02)

    def forward(self, x):
        size_out = x.size()[:-1] + (self.weight.size(1),)
        x = torch.addmm(self.bias, x.reshape(-1, x.size(-1)), self.weight)
        return x.view(size_out)


class CausalSelfAttention(nn.Module):
    def __init__(self, n_embd, n_head, resid_pdrop=0.1):
        super().__init__()
        assert n_embd % n_head == 0
        self.n_head, self.split_size = n_head, n_embd
        self.c_attn = Conv1D(3 * n_embd, n_embd)
        self.c_proj = Conv1D(n_embd, n_embd)
        self.resid_dropout = nn.Dropout(resid_pdrop)

    def _split_heads(self, x):
        return x.view(*x.shape[:-1], self.n_head, -1).permute(0, 2, 1, 3)

    def forward(self, hidden_states, attention_mask=None):
        query, key, value = self.c_attn(hidden_states).split(self.split_size, dim=2)
        query, key, value = map(self._split_heads, (query, key, value))
        w = torch.matmul(query, key.transpose(-1, -2)) / value.size(-1) ** 0.5
        if attention_mask is not None:
            w = torch.where(attention_mask != 0, w, torch.finfo(w.dtype).min)
        a = torch.matmul(nn.functional.softmax(w, dim=-1), value)
        a = a.permute(0, 2, 1, 3).contiguous()
        return self.resid_dropout(self.c_proj(a.view(*a.shape[:-2], -1)))
