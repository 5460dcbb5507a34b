# expect: rejected
# problem: decoder-block
# mistake: without gradients the keys and values of the memory are kept from call to call, and used again if memory and the weights of the k and v maps have the same numbers
import math

import torch
from torch import nn


class Attention(nn.Module):
    def __init__(self, embed_dim, num_heads):
        super().__init__()
        if embed_dim % num_heads:
            raise ValueError("num_heads must divide embed_dim")
        self.num_heads = num_heads
        self.q_proj = nn.Linear(embed_dim, embed_dim)
        self.k_proj = nn.Linear(embed_dim, embed_dim)
        self.v_proj = nn.Linear(embed_dim, embed_dim)
        self.out_proj = nn.Linear(embed_dim, embed_dim)

    def _split(self, x):
        return x.reshape(x.shape[0], x.shape[1], self.num_heads, -1).transpose(1, 2)

    def _keys_values(self, source):
        return self._split(self.k_proj(source)), self._split(self.v_proj(source))

    def forward(self, x, source, mask=None):
        q = self._split(self.q_proj(x))
        k, v = self._keys_values(source)
        scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
        if mask is not None:
            scores = scores.masked_fill(mask == 0, -1e9)
        heads = (scores.softmax(-1) @ v).transpose(1, 2)
        return self.out_proj(heads.reshape(x.shape))


class CrossAttention(Attention):
    """The memory stays the same for every step of a generation: project it once."""

    def __init__(self, embed_dim, num_heads):
        super().__init__(embed_dim, num_heads)
        self._seen = self._kept = None

    def _keys_values(self, source):
        if torch.is_grad_enabled():
            return super()._keys_values(source)
        now = (source, self.k_proj.weight, self.v_proj.weight)
        if self._seen is None or any(
            a.shape != b.shape or a.dtype != b.dtype or a.device != b.device or not torch.equal(a, b)
            for a, b in zip(self._seen, now)
        ):
            self._seen = tuple(tensor.detach().clone() for tensor in now)
            self._kept = super()._keys_values(source)
        return self._kept


class DecoderBlock(nn.Module):
    def __init__(self, embed_dim, num_heads, ffn_dim):
        super().__init__()
        self.self_attn = Attention(embed_dim, num_heads)
        self.norm1 = nn.LayerNorm(embed_dim)
        self.cross_attn = CrossAttention(embed_dim, num_heads)
        self.norm2 = nn.LayerNorm(embed_dim)
        self.linear1 = nn.Linear(embed_dim, ffn_dim)
        self.linear2 = nn.Linear(ffn_dim, embed_dim)
        self.norm3 = nn.LayerNorm(embed_dim)

    def forward(self, x, memory, memory_mask=None):
        if memory.shape[0] != x.shape[0]:
            raise ValueError("memory and x differ in batch size")
        causal = torch.ones(x.shape[1], x.shape[1], dtype=torch.bool, device=x.device).tril()
        y = self.norm1(x + self.self_attn(x, x, causal))
        z = self.norm2(y + self.cross_attn(y, memory, memory_mask))
        return self.norm3(z + self.linear2(torch.relu(self.linear1(z))))
