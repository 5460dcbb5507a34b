# problem: sdpa
# wrong: gradients flow whichever of the inputs require them; here the hand-written backward gives q none when v requires none
import torch


class Attn(torch.autograd.Function):
    @staticmethod
    def forward(ctx, q, k, v, blocked):
        c = q.size(-1) ** -0.5
        s = (q @ k.transpose(-2, -1)) * c
        if blocked is not None:
            s = s.masked_fill(blocked, -1e9)
        w = s.softmax(-1)
        ctx.c = c
        ctx.blocked = blocked
        ctx.save_for_backward(q, k, v, w)
        return w @ v, w

    @staticmethod
    def backward(ctx, go, gw):
        q, k, v, w = ctx.saved_tensors
        dq = dk = dv = None
        dw = go @ v.transpose(-2, -1) + gw
        ds = (dw - (dw * w).sum(-1, keepdim=True)) * w * ctx.c
        if ctx.blocked is not None:
            ds = ds.masked_fill(ctx.blocked, 0)
        if ctx.needs_input_grad[1]:
            dk = ds.transpose(-2, -1) @ q
        if ctx.needs_input_grad[2]:
            dv = w.transpose(-2, -1) @ go
            dq = ds @ k
        return dq, dk, dv, None


def scaled_dot_product_attention(q, k, v, mask=None):
    if q.size(-1) != k.size(-1) or k.size(-2) != v.size(-2):
        raise ValueError("sizes")
    return Attn.apply(q, k, v, None if mask is None else mask == 0)
