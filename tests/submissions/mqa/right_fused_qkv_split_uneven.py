# expect: accepted
# problem: mqa
import torch
import torch.nn as nn


class MultiQueryAttention(nn.Module):
    def __init__(self, n_embd, n_head, attn_pdrop=0.1):
        super().__init__()
        assert n_embd % n_head == 0
        self.embed_dim, self.num_heads = n_embd, n_head
        self.head_dim = n_embd // n_head
        self.kv_dim = self.head_dim
        self.c_attn = nn.Linear(self.embed_dim, self.embed_dim + 2 * self.kv_dim)
        self.c_proj = nn.Linear(self.embed_dim, self.embed_dim)
        self.attn_dropout = nn.Dropout(attn_pdrop)

    def _attn(self, query, key, value, mask):
        # (B, L, H·D) -> (B, L·H, D): one big product with the shared keys
        b, n, _ = query.shape
        query = query.reshape(b, n * self.num_heads, self.head_dim)
        w = torch.bmm(query, key.transpose(1, 2)) / self.head_dim**0.5
        w = w.view(b, n, self.num_heads, n)
        if mask is not None:
            keep = mask.bool().expand(b, self.num_heads, n, n).transpose(1, 2)
            w = torch.where(keep, w, torch.finfo(w.dtype).min)
        w = self.attn_dropout(w.softmax(dim=-1))
        return torch.bmm(w.view(b, n * self.num_heads, n), value).view(b, n, -1)

    def forward(self, hidden_states, attention_mask=None):
        query, kv = self.c_attn(hidden_states).split((self.embed_dim, 2 * self.kv_dim), dim=2)
        key, value = kv.split((self.head_dim, self.head_dim), dim=-1)
        return self.c_proj(self._attn(query, key, value, attention_mask))
