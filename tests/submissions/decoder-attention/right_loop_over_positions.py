# expect: accepted
# problem: decoder-attention
# One new position after another; each looks back through its own slice of the joined cache.
import torch
import torch.nn as nn
import torch.nn.functional as F


class GQAWithCache(nn.Module):
    def __init__(self, embed_dim, num_heads, num_kv_heads, window_size=None):
        super().__init__()
        if embed_dim % num_heads != 0:
            raise ValueError("embed_dim % num_heads")
        if num_heads % num_kv_heads != 0:
            raise ValueError("num_heads % num_kv_heads")
        self.num_heads = num_heads
        self.num_kv_heads = num_kv_heads
        self.head_dim = embed_dim // num_heads
        if self.head_dim % 2:
            raise ValueError("head_dim is odd")
        self.window_size = window_size
        self.query = nn.Linear(embed_dim, embed_dim)
        self.key_value = nn.Linear(embed_dim, 2 * num_kv_heads * self.head_dim)
        self.out = nn.Linear(embed_dim, embed_dim)

    def rotation(self, position, like):
        """The (D, D) matrix that turns a head's features at a position."""
        half = self.head_dim // 2
        exponent = torch.arange(half, dtype=torch.float32, device=like.device) * (-2.0 / self.head_dim)
        angle = float(position) * torch.pow(torch.tensor(10000.0, device=like.device), exponent)
        cos, sin = torch.diag(torch.cos(angle)), torch.diag(torch.sin(angle))
        return torch.cat([torch.cat([cos, -sin], 1), torch.cat([sin, cos], 1)], 0).to(like.dtype)

    def forward(self, x, cache=None):
        batch, length, _ = x.shape
        q = self.query(x).view(batch, length, self.num_heads, self.head_dim)
        k, v = self.key_value(x).chunk(2, dim=-1)
        k = k.view(batch, length, self.num_kv_heads, self.head_dim)
        v = v.view(batch, length, self.num_kv_heads, self.head_dim)
        past = 0 if cache is None else cache[0].shape[2]
        turns = [self.rotation(past + i, x) for i in range(length)]
        k = torch.stack([k[:, i] @ turns[i].T for i in range(length)], dim=2)
        v = v.transpose(1, 2)
        if cache is not None:
            k = torch.cat([cache[0], k], dim=2)
            v = torch.cat([cache[1], v], dim=2)
        group = self.num_heads // self.num_kv_heads
        outputs = []
        for i in range(length):
            end = past + i + 1
            begin = 0 if self.window_size is None else max(0, end - self.window_size)
            keys = torch.repeat_interleave(k[:, :, begin:end], group, dim=1)
            values = torch.repeat_interleave(v[:, :, begin:end], group, dim=1)
            query = (q[:, i] @ turns[i].T).unsqueeze(2)  # (B, H, 1, D)
            weights = F.softmax((query * keys).sum(-1) * self.head_dim**-0.5, dim=-1)
            outputs.append((weights.unsqueeze(-1) * values).sum(2).reshape(batch, -1))
        return self.out(torch.stack(outputs, dim=1)), (k, v)
