# expect: accepted
# problem: flash-attention
# forward and backward by hand: saves the lse alone and recomputes each block
import math

import torch


class FlashAttentionFunction(torch.autograd.Function):
    @staticmethod
    def forward(ctx, q, k, v, block, causal):
        L, S = q.shape[-2], k.shape[-2]
        scale = 1.0 / math.sqrt(q.shape[-1])
        acc = q.new_zeros(q.shape[:-1] + (v.shape[-1],))
        row_sum = q.new_zeros(q.shape[:-1] + (1,))
        row_max = q.new_full(q.shape[:-1] + (1,), -float("inf"))
        for j in range(0, S, block):
            s = _scores(q, k[..., j : j + block, :], scale, j, causal)
            new_max = torch.maximum(row_max, s.amax(-1, keepdim=True))
            p = torch.exp(s - new_max)
            alpha = torch.exp(row_max - new_max)
            row_sum.mul_(alpha).add_(p.sum(-1, keepdim=True))
            acc.mul_(alpha).add_(p @ v[..., j : j + block, :])
            row_max = new_max
        out = acc / row_sum
        ctx.save_for_backward(q, k, v, out, row_max + row_sum.log())
        ctx.block, ctx.causal, ctx.scale = block, causal, scale
        return out

    @staticmethod
    def backward(ctx, dout):
        q, k, v, out, lse = ctx.saved_tensors
        dq, dk, dv = torch.zeros_like(q), torch.zeros_like(k), torch.zeros_like(v)
        delta = (dout * out).sum(-1, keepdim=True)
        for j in range(0, k.shape[-2], ctx.block):
            js = slice(j, j + ctx.block)
            p = torch.exp(_scores(q, k[..., js, :], ctx.scale, j, ctx.causal) - lse)
            dv[..., js, :] = p.transpose(-2, -1) @ dout
            ds = p * (dout @ v[..., js, :].transpose(-2, -1) - delta) * ctx.scale
            dq += ds @ k[..., js, :]
            dk[..., js, :] = ds.transpose(-2, -1) @ q
        return dq, dk, dv, None, None


def _scores(q, k, scale, start, causal):
    s = (q @ k.transpose(-2, -1)) * scale
    if causal:
        i = torch.arange(q.shape[-2], device=q.device)[:, None]
        j = start + torch.arange(k.shape[-2], device=q.device)[None, :]
        s.masked_fill_(j > i, -float("inf"))
    return s


def flash_attn_func(q, k, v, block_size=64, causal=False):
    if block_size < 1:
        raise ValueError("block_size")
    if v.shape[-2] != k.shape[-2]:
        raise ValueError("k and v")
    return FlashAttentionFunction.apply(q, k, v, block_size, causal)
