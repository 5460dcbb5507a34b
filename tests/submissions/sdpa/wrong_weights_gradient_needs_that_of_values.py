# expect: rejected
# problem: sdpa
# mistake: its backward forgets what comes in through the weights, beside the output, if v is frozen
import math

import torch


class Attend(torch.autograd.Function):
    @staticmethod
    def forward(ctx, s, v):
        ctx.set_materialize_grads(False)
        w = s.softmax(-1)
        ctx.save_for_backward(w, v)
        return w @ v, w

    @staticmethod
    def backward(ctx, do, dw):
        w, v = ctx.saved_tensors
        dv = None
        if do is not None:
            through = do @ v.mT
            if ctx.needs_input_grad[1]:
                dv = w.mT @ do
                through = through if dw is None else through + dw
            dw = through
        ds = None if dw is None else w * (dw - (dw * w).nan_to_num().sum(-1, keepdim=True))
        return ds, dv


def scaled_dot_product_attention(q, k, v, mask=None):
    if q.shape[-1] != k.shape[-1] or k.shape[-2] != v.shape[-2]:
        raise ValueError
    s = q @ k.mT / math.sqrt(q.shape[-1])
    if mask is not None:
        s = s.masked_fill(mask == 0, -math.inf)
    return Attend.apply(s, v)
