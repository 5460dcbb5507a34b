# expect: rejected
# problem: decoder-block
# mistake: the memory is never read
# diagnosis: memory-ignored
import torch
import torch.nn as nn
import torch.nn.functional as F


class MHA(nn.Module):
    def __init__(self, embed_dim, num_heads, bias=True):
        super().__init__()
        self.num_heads = num_heads
        self.head_dim = embed_dim // num_heads
        if self.head_dim * num_heads != embed_dim:
            raise ValueError(f"embed_dim {embed_dim}, num_heads {num_heads}")
        self.scaling = self.head_dim**-0.5
        self.k_proj = nn.Linear(embed_dim, embed_dim, bias=bias)
        self.v_proj = nn.Linear(embed_dim, embed_dim, bias=bias)
        self.q_proj = nn.Linear(embed_dim, embed_dim, bias=bias)
        self.out_proj = nn.Linear(embed_dim, embed_dim, bias=bias)

    def _shape(self, t, seq_len, bsz):
        t = t.view(bsz, seq_len, self.num_heads, self.head_dim).transpose(1, 2).contiguous()
        return t.view(bsz * self.num_heads, seq_len, self.head_dim)

    def forward(self, hidden_states, key_value_states=None, attention_mask=None):
        bsz, tgt_len, embed_dim = hidden_states.size()
        states = hidden_states if key_value_states is None else key_value_states
        assert states.size(0) == bsz
        query = self._shape(self.q_proj(hidden_states) * self.scaling, tgt_len, bsz)
        key = self._shape(self.k_proj(states), states.size(1), bsz)
        value = self._shape(self.v_proj(states), states.size(1), bsz)
        attn = torch.bmm(query, key.transpose(1, 2)).view(bsz, self.num_heads, tgt_len, -1)
        if attention_mask is not None:
            attn = attn + attention_mask
        probs = F.softmax(attn, dim=-1).view(bsz * self.num_heads, tgt_len, -1)
        out = torch.bmm(probs, value).view(bsz, self.num_heads, tgt_len, self.head_dim)
        out = out.transpose(1, 2).reshape(bsz, tgt_len, embed_dim)
        return self.out_proj(out), probs


def make_causal_mask(tgt_len, dtype, device):
    mask = torch.full((tgt_len, tgt_len), torch.finfo(dtype).min, device=device, dtype=dtype)
    cond = torch.arange(tgt_len, device=device)
    mask.masked_fill_(cond < (cond + 1).view(tgt_len, 1), 0)
    return mask


def expand_mask(mask, dtype):
    inverted = 1.0 - mask.to(dtype)
    return inverted.masked_fill(inverted.bool(), torch.finfo(dtype).min)


class Seq2SeqDecoderLayer(nn.Module):
    def __init__(self, d_model, decoder_attention_heads, decoder_ffn_dim, dropout=0.1):
        super().__init__()
        self.embed_dim = d_model
        self.self_attn = MHA(d_model, decoder_attention_heads)
        self.dropout = dropout
        self.self_attn_layer_norm = nn.LayerNorm(d_model)
        self.encoder_attn = MHA(d_model, decoder_attention_heads)
        self.encoder_attn_layer_norm = nn.LayerNorm(d_model)
        self.fc1 = nn.Linear(d_model, decoder_ffn_dim)
        self.fc2 = nn.Linear(decoder_ffn_dim, d_model)
        self.final_layer_norm = nn.LayerNorm(d_model)

    def forward(self, hidden_states, encoder_hidden_states=None, encoder_attention_mask=None):
        dtype, device = hidden_states.dtype, hidden_states.device
        causal = make_causal_mask(hidden_states.size(1), dtype, device)
        residual = hidden_states
        hidden_states, self_attn_weights = self.self_attn(hidden_states, attention_mask=causal)
        hidden_states = F.dropout(hidden_states, p=self.dropout, training=self.training)
        hidden_states = residual + hidden_states
        hidden_states = self.self_attn_layer_norm(hidden_states)

        if encoder_attention_mask is not None:
            encoder_attention_mask = expand_mask(encoder_attention_mask, dtype)
        residual = hidden_states
        hidden_states, cross_attn_weights = self.encoder_attn(
            hidden_states, None, None
        )
        hidden_states = F.dropout(hidden_states, p=self.dropout, training=self.training)
        hidden_states = residual + hidden_states
        hidden_states = self.encoder_attn_layer_norm(hidden_states)

        residual = hidden_states
        hidden_states = F.relu(self.fc1(hidden_states))
        hidden_states = self.fc2(hidden_states)
        hidden_states = F.dropout(hidden_states, p=self.dropout, training=self.training)
        hidden_states = residual + hidden_states
        hidden_states = self.final_layer_norm(hidden_states)
        return (hidden_states, self_attn_weights, cross_attn_weights)
