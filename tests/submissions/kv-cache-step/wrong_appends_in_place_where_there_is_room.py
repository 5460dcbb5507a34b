# expect: rejected
# problem: kv-cache-step
# mistake: under no_grad a cache keeps room, in which two continuations write over one another
import torch
from torch import nn


def grown(old, new):
    length = old.shape[2] + new.shape[2]
    if torch.is_grad_enabled():
        return torch.cat((old, new), 2)
    whole = old._base
    if whole is None or whole.dim() != 4 or whole[:, :, : old.shape[2]].stride() != old.stride():
        whole = None
    if whole is None or whole.shape[2] < length or whole.data_ptr() != old.data_ptr():
        whole = new.new_empty(*new.shape[:2], 2 * length, new.shape[3])
        whole[:, :, : old.shape[2]] = old
    whole[:, :, old.shape[2] : length] = new
    return whole[:, :, :length]


class CachedSelfAttention(nn.Module):
    def __init__(self, embed_dim, num_heads):
        super().__init__()
        assert embed_dim % num_heads == 0
        self.num_heads = num_heads
        self.head_dim = embed_dim // num_heads
        self.qkv = nn.Linear(embed_dim, 3 * embed_dim)
        self.proj = nn.Linear(embed_dim, embed_dim)

    def forward(self, x, cache=None):
        q, k, v = self.qkv(x).chunk(3, -1)
        q, k, v = (t.unflatten(-1, (self.num_heads, -1)).transpose(1, 2) for t in (q, k, v))
        if cache is not None:
            k, v = grown(cache[0], k), grown(cache[1], v)
        scores = q @ k.transpose(-2, -1) / self.head_dim**0.5
        new, total = scores.shape[-2:]
        later = torch.ones(new, total, dtype=torch.bool, device=x.device).triu(total - new + 1)
        weights = scores.masked_fill(later, float("-inf")).softmax(-1)
        return self.proj((weights @ v).transpose(1, 2).flatten(2)), (k, v)
