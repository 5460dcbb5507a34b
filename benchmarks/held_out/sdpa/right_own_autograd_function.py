# problem: sdpa
# right: a torch.autograd.Function with a backward written by hand, also through the weights
import torch
from torch.autograd import Function


class _Attend(Function):
    @staticmethod
    def forward(ctx, q, k, v, mask):
        scale = q.shape[-1] ** -0.5
        s = torch.matmul(q * scale, k.transpose(-1, -2))
        if mask is not None:
            s = s.masked_fill(mask == 0, -1e9)
        w = torch.softmax(s, -1)
        ctx.save_for_backward(q, k, v, w)
        ctx.blocked = None if mask is None else (mask == 0)
        ctx.scale = scale
        return torch.matmul(w, v), w

    @staticmethod
    def backward(ctx, g_out, g_w):
        q, k, v, w = ctx.saved_tensors
        gw = torch.matmul(g_out, v.transpose(-1, -2)) + g_w
        gv = torch.matmul(w.transpose(-1, -2), g_out)
        gs = w * (gw - (gw * w).sum(-1, keepdim=True))
        if ctx.blocked is not None:
            gs = gs.masked_fill(ctx.blocked, 0.0)
        gq = torch.matmul(gs, k) * ctx.scale
        gk = torch.matmul(gs.transpose(-1, -2), q) * ctx.scale
        return gq, gk, gv, None


def scaled_dot_product_attention(q, k, v, mask=None):
    same = q.shape[:-2] == k.shape[:-2] == v.shape[:-2]
    if not same or q.shape[-1] != k.shape[-1] or k.shape[-2] != v.shape[-2]:
        raise ValueError(f"cannot attend: {tuple(q.shape)}, {tuple(k.shape)}, {tuple(v.shape)}")
    return _Attend.apply(q, k, v, mask)
