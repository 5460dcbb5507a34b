# expect: accepted
# problem: self-attention
import torch
from torch import Tensor, nn


class MultiheadSelfAttention(nn.Module):
    """Length first inside, heads folded into the batch, masks brought to (B·H, L, L)."""

    def __init__(
        self,
        embed_dim: int,
        num_heads: int,
        *,
        dropout: float = 0.0,
        bias: bool = True,
        causal: bool = False,
        self_attention: bool = True,
    ) -> None:
        super().__init__()
        self.embed_dim, self.num_heads = embed_dim, num_heads
        self.head_dim = embed_dim // num_heads
        assert self.head_dim * num_heads == self.embed_dim, "embed_dim must be divisible"
        self.scaling = self.head_dim**-0.5
        self.dropout_module = nn.Dropout(dropout)
        self.causal = causal
        self.k_proj = nn.Linear(embed_dim, embed_dim, bias=bias)
        self.v_proj = nn.Linear(embed_dim, embed_dim, bias=bias)
        self.q_proj = nn.Linear(embed_dim, embed_dim, bias=bias)
        self.out_proj = nn.Linear(embed_dim, embed_dim, bias=bias)
        for proj in (self.k_proj, self.v_proj, self.q_proj):
            nn.init.xavier_uniform_(proj.weight, gain=2**-0.5)

    def forward(
        self,
        x: Tensor,
        *,
        key_padding_mask: Tensor | None = None,
        attn_mask: Tensor | None = None,
        need_weights: bool = False,
    ):
        query = x.transpose(0, 1)  # (L, B, E)
        tgt_len, bsz, embed_dim = query.size()
        assert embed_dim == self.embed_dim

        q = self.q_proj(query) * self.scaling
        k, v = self.k_proj(query), self.v_proj(query)
        q, k, v = (
            t.contiguous().view(tgt_len, bsz * self.num_heads, self.head_dim).transpose(0, 1)
            for t in (q, k, v)
        )  # (B·H, L, D)

        attn_weights = torch.bmm(q, k.transpose(1, 2))
        attn_weights = attn_weights.view(bsz, self.num_heads, tgt_len, tgt_len)
        if attn_mask is not None:
            if attn_mask.dtype is torch.bool:
                attn_weights = attn_weights.masked_fill(attn_mask, float("-inf"))
            else:
                attn_weights = attn_weights + attn_mask
        if key_padding_mask is not None:
            attn_weights = attn_weights.masked_fill(
                key_padding_mask.unsqueeze(1).unsqueeze(2).to(torch.bool), float("-inf")
            )
        attn_weights = attn_weights.view(bsz * self.num_heads, tgt_len, tgt_len)
        if self.causal:
            future = torch.triu(torch.full((tgt_len, tgt_len), float("-inf")), 1)
            attn_weights = attn_weights + future.to(attn_weights)

        weights_float = torch.softmax(attn_weights, dim=-1, dtype=torch.float32)
        attn_weights = weights_float.type_as(attn_weights)
        attn_probs = self.dropout_module(attn_weights)
        attn = torch.bmm(attn_probs, v)
        attn = attn.transpose(0, 1).reshape(tgt_len, bsz, embed_dim)
        attn = self.out_proj(attn).transpose(0, 1)
        if not need_weights:
            return attn, None
        return attn, attn_probs.view(bsz, self.num_heads, tgt_len, tgt_len)
