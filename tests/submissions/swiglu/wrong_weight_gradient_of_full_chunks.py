# expect: rejected
# problem: swiglu
# mistake: beyond 2048 rows the gradient of the down map's weight is summed over full chunks, without the rest
import torch
from torch import nn


class _Gate(torch.autograd.Function):
    """SiLU(a) * b that keeps a and b only."""

    @staticmethod
    def forward(ctx, a, b):
        ctx.save_for_backward(a, b)
        return a * torch.sigmoid(a) * b

    @staticmethod
    def backward(ctx, grad):
        a, b = ctx.saved_tensors
        s = torch.sigmoid(a)
        return grad * b * s * (1 + a * (1 - s)), grad * a * s


class _Map(torch.autograd.Function):
    """x @ W.T on rows."""

    @staticmethod
    def forward(ctx, x, weight):
        ctx.save_for_backward(x, weight)
        return x @ weight.t()

    @staticmethod
    def backward(ctx, grad):
        x, weight = ctx.saved_tensors
        g, y = grad.reshape(-1, grad.shape[-1]), x.reshape(-1, x.shape[-1])
        n = len(g) // 2048 * 2048 if len(g) > 2048 else len(g)
        total = sum(a.t() @ b for a, b in zip(g[:n].split(2048), y[:n].split(2048)))
        return grad @ weight, total


class SwiGLUFeedForward(nn.Module):
    def __init__(self, embed_dim, ffn_dim):
        super().__init__()
        self.gate = nn.Linear(embed_dim, ffn_dim, bias=False)
        self.up = nn.Linear(embed_dim, ffn_dim, bias=False)
        self.down = nn.Linear(ffn_dim, embed_dim, bias=False)

    def forward(self, x):
        hidden = _Gate.apply(self.gate(x), self.up(x))
        return _Map.apply(hidden, self.down.weight)
