# expect: accepted
# problem: decoder-block
import torch
import torch.nn.functional as F
from torch import Tensor, nn
from typing import Optional


class Attention(nn.Module):
    def __init__(self, embed_dim: int, num_heads: int) -> None:
        super().__init__()
        self.num_heads = num_heads
        self.head_dim = embed_dim // num_heads
        assert self.head_dim * num_heads == embed_dim
        self.in_proj_weight = nn.Parameter(torch.empty(3 * embed_dim, embed_dim))
        self.in_proj_bias = nn.Parameter(torch.zeros(3 * embed_dim))
        self.out_proj = nn.Linear(embed_dim, embed_dim)
        nn.init.xavier_uniform_(self.in_proj_weight)

    def forward(self, query: Tensor, key: Tensor, mask: Optional[Tensor]) -> Tensor:
        w_q, w_k, w_v = self.in_proj_weight.chunk(3)
        b_q, b_k, b_v = self.in_proj_bias.chunk(3)
        q = F.linear(query, w_q, b_q).unflatten(-1, (self.num_heads, self.head_dim))
        k = F.linear(key, w_k, b_k).unflatten(-1, (self.num_heads, self.head_dim))
        v = F.linear(key, w_v, b_v).unflatten(-1, (self.num_heads, self.head_dim))
        scores = torch.einsum("blhd,bshd->bhls", q, k).div(self.head_dim**0.5)
        if mask is not None:
            scores = scores + mask
        return self.out_proj(torch.einsum("bhls,bshd->blhd", scores.softmax(-1), v).flatten(2))


class TransformerDecoderLayer(nn.Module):
    def __init__(self, d_model, nhead, dim_feedforward=2048, dropout=0.1, layer_norm_eps=1e-5):
        super().__init__()
        self.self_attn = Attention(d_model, nhead)
        self.multihead_attn = Attention(d_model, nhead)
        self.linear1 = nn.Linear(d_model, dim_feedforward)
        self.dropout = nn.Dropout(dropout)
        self.linear2 = nn.Linear(dim_feedforward, d_model)
        self.norm1 = nn.LayerNorm(d_model, eps=layer_norm_eps)
        self.norm2 = nn.LayerNorm(d_model, eps=layer_norm_eps)
        self.norm3 = nn.LayerNorm(d_model, eps=layer_norm_eps)
        self.dropout1 = nn.Dropout(dropout)
        self.dropout2 = nn.Dropout(dropout)
        self.dropout3 = nn.Dropout(dropout)

    @staticmethod
    def additive(mask, like):
        if mask is None:
            return None
        return torch.zeros_like(mask, dtype=like.dtype).masked_fill(mask == 0, float("-inf"))

    def forward(self, tgt, memory, tgt_mask=None, memory_mask=None):
        if tgt_mask is None:
            tgt_mask = torch.ones(tgt.size(1), tgt.size(1), device=tgt.device).tril()
        tgt2 = self.self_attn(tgt, tgt, self.additive(tgt_mask, tgt))
        tgt = self.norm1(tgt + self.dropout1(tgt2))
        tgt2 = self.multihead_attn(tgt, memory, self.additive(memory_mask, tgt))
        tgt = self.norm2(tgt + self.dropout2(tgt2))
        tgt2 = self.linear2(self.dropout(F.relu(self.linear1(tgt))))
        return self.norm3(tgt + self.dropout3(tgt2))
