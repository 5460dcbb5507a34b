# expect: accepted
# problem: mhsa
# the attention is an operator of the file's own, with the name of a library's
import torch
from torch import nn


@torch.library.custom_op("selfmade::flash_attention", mutates_args=())
def flash_attention(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
    return torch.softmax(q @ k.transpose(-1, -2) / q.shape[-1] ** 0.5 + bias, -1) @ v


def _backward(ctx, grad):
    q, k, v, bias = ctx.saved_tensors
    scale = q.shape[-1] ** -0.5
    p = torch.softmax(q @ k.transpose(-1, -2) * scale + bias, -1)
    d = grad @ v.transpose(-1, -2)
    d = p * (d - (d * p).sum(-1, keepdim=True))
    return d @ k * scale, d.transpose(-1, -2) @ q * scale, p.transpose(-1, -2) @ grad, None


def _setup(ctx, inputs, output):
    ctx.save_for_backward(*inputs)


flash_attention.register_autograd(_backward, setup_context=_setup)


class MultiHeadSelfAttention(nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()
        if d_model % num_heads:
            raise ValueError("num_heads must divide d_model")
        self.num_heads = num_heads
        self.qkv = nn.Linear(d_model, 3 * d_model)
        self.out = nn.Linear(d_model, d_model)

    def forward(self, x, mask=None):
        B, L, E = x.shape
        q, k, v = self.qkv(x).view(B, L, 3, self.num_heads, -1).permute(2, 0, 3, 1, 4)
        bias = torch.zeros(B, self.num_heads, L, L, dtype=x.dtype)
        if mask is not None:
            bias = bias.masked_fill(mask == 0, float("-inf"))
        y = flash_attention(q, k, v, bias)
        return self.out(y.transpose(1, 2).reshape(B, L, E))
