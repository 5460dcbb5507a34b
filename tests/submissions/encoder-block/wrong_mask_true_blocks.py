# expect: rejected
# problem: encoder-block
# mistake: PyTorch's convention
# diagnosis: mask-inverted
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch import Tensor
from typing import Optional


def Linear(in_features, out_features, bias=True):
    m = nn.Linear(in_features, out_features, bias)
    nn.init.xavier_uniform_(m.weight)
    if bias:
        nn.init.constant_(m.bias, 0.0)
    return m


class Attn(nn.Module):
    def __init__(self, embed_dim, num_heads):
        super().__init__()
        self.embed_dim, self.num_heads = embed_dim, num_heads
        self.head_dim = embed_dim // num_heads
        assert self.head_dim * num_heads == embed_dim, "embed_dim must be divisible by num_heads"
        self.scaling = self.head_dim**-0.5
        # keys first, as in old checkpoints
        self.k_proj = Linear(embed_dim, embed_dim)
        self.v_proj = Linear(embed_dim, embed_dim)
        self.q_proj = Linear(embed_dim, embed_dim)
        self.out_proj = Linear(embed_dim, embed_dim)

    def forward(self, x: Tensor, mask: Optional[Tensor]) -> Tensor:
        # T x B x C inside
        T, B, C = x.shape
        q = self.q_proj(x) * self.scaling
        k = self.k_proj(x)
        v = self.v_proj(x)
        q, k, v = (
            t.contiguous().view(T, B * self.num_heads, self.head_dim).transpose(0, 1)
            for t in (q, k, v)
        )
        w = torch.bmm(q, k.transpose(1, 2))
        if mask is not None:
            blocked = mask.ne(0)
            w = w.view(B, self.num_heads, T, T).masked_fill(blocked, float("-inf"))
            w = w.view(B * self.num_heads, T, T)
        probs = F.softmax(w.float(), dim=-1).type_as(w) if w.dtype != torch.float64 else w.softmax(-1)
        attn = torch.bmm(probs, v).transpose(0, 1).contiguous().view(T, B, C)
        return self.out_proj(attn)


class TransformerEncoderLayer(nn.Module):
    def __init__(self, embed_dim, attention_heads, ffn_embed_dim, dropout=0.1, activation_dropout=0.0):
        super().__init__()
        self.self_attn = Attn(embed_dim, attention_heads)
        self.self_attn_layer_norm = nn.LayerNorm(embed_dim)
        self.dropout_module = nn.Dropout(dropout)
        self.activation_dropout_module = nn.Dropout(activation_dropout)
        self.fc1 = Linear(embed_dim, ffn_embed_dim)
        self.fc2 = Linear(ffn_embed_dim, embed_dim)
        self.final_layer_norm = nn.LayerNorm(embed_dim)

    def forward(self, x, encoder_padding_mask: Optional[Tensor] = None):
        x = x.transpose(0, 1)
        residual = x
        x = self.self_attn(x, encoder_padding_mask)
        x = self.dropout_module(x)
        x = self.self_attn_layer_norm(residual + x)

        residual = x
        x = F.relu(self.fc1(x))
        x = self.activation_dropout_module(x)
        x = self.fc2(x)
        x = self.dropout_module(x)
        x = self.final_layer_norm(residual + x)
        return x.transpose(0, 1)
