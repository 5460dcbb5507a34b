# expect: rejected
# problem: pre-norm-block
# mistake: the norm's backward pass divides by its weight, which may be 0
import math
import torch
import torch.nn.functional as F
from torch import nn


class _Norm(torch.autograd.Function):
    """Saves the output, which the next map saves anyhow, and not the input: half the memory."""

    @staticmethod
    def forward(ctx, x, weight, eps):
        root = torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + eps)
        output = x * root * weight
        ctx.save_for_backward(output, weight, root)
        return output

    @staticmethod
    def backward(ctx, grad):
        output, weight, root = ctx.saved_tensors
        normed = output / weight
        inner = grad * weight
        grad_x = root * (inner - normed * (inner * normed).mean(-1, keepdim=True))
        return grad_x, (grad * normed).sum(dim=tuple(range(grad.dim() - 1))), None


class RMSNorm(nn.Module):
    def __init__(self, dim, eps=1e-6):
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(dim))

    def forward(self, x):
        wide = torch.float64 if x.dtype == torch.float64 else torch.float32
        return _Norm.apply(x.to(wide), self.weight.to(wide), self.eps).to(x.dtype)

def _tables(length, head_dim, device):
    theta = 10000.0 ** (-torch.arange(0, head_dim, 2, device=device, dtype=torch.float64) / head_dim)
    angles = torch.arange(length, device=device, dtype=torch.float64)[:, None] * theta
    return angles.cos(), angles.sin()


def _turn(x, cos, sin):
    a, b = x.chunk(2, dim=-1)
    return torch.cat((a * cos - b * sin, b * cos + a * sin), dim=-1)


class PreNormBlock(nn.Module):
    def __init__(self, embed_dim, num_heads, num_kv_heads, ffn_dim):
        super().__init__()
        if embed_dim % num_heads or num_heads % num_kv_heads or embed_dim // num_heads % 2:
            raise ValueError("sizes do not divide, or the head size is odd")
        self.num_heads, self.num_kv_heads = num_heads, num_kv_heads
        self.head_dim = embed_dim // num_heads
        self.q_proj = nn.Linear(embed_dim, embed_dim, bias=False)
        self.k_proj = nn.Linear(embed_dim, num_kv_heads * self.head_dim, bias=False)
        self.v_proj = nn.Linear(embed_dim, num_kv_heads * self.head_dim, bias=False)
        self.out_proj = nn.Linear(embed_dim, embed_dim, bias=False)
        self.gate_proj = nn.Linear(embed_dim, ffn_dim, bias=False)
        self.up_proj = nn.Linear(embed_dim, ffn_dim, bias=False)
        self.down_proj = nn.Linear(ffn_dim, embed_dim, bias=False)
        self.norm1 = RMSNorm(embed_dim)
        self.norm2 = RMSNorm(embed_dim)

    def _attention(self, z):
        B, L, E = z.shape
        cos, sin = _tables(L, self.head_dim, z.device)
        cos, sin = cos.to(z.dtype), sin.to(z.dtype)
        q = self.q_proj(z).reshape(B, L, self.num_heads, self.head_dim).transpose(1, 2)
        k = self.k_proj(z).reshape(B, L, self.num_kv_heads, self.head_dim).transpose(1, 2)
        v = self.v_proj(z).reshape(B, L, self.num_kv_heads, self.head_dim).transpose(1, 2)
        q, k = _turn(q, cos, sin), _turn(k, cos, sin)
        shared = self.num_heads // self.num_kv_heads
        k, v = k.repeat_interleave(shared, dim=1), v.repeat_interleave(shared, dim=1)
        scores = q @ k.transpose(-2, -1) / math.sqrt(self.head_dim)
        later = torch.ones(L, L, dtype=torch.bool, device=z.device).triu(1)
        scores = scores.masked_fill(later, float("-inf"))
        heads = scores.softmax(-1) @ v
        return self.out_proj(heads.transpose(1, 2).reshape(B, L, E))

    def _block(self, x):
        y = x + self._attention(self.norm1(x))
        z = self.norm2(y)
        return y + self.down_proj(F.silu(self.gate_proj(z)) * self.up_proj(z))

    def forward(self, x):
        return self._block(x)
