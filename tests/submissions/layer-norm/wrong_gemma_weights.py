# expect: rejected
# problem: layer-norm
# mistake: RMSNorm scales by 1 + weight, as Gemma keeps its weights
# diagnosis: rms-weight-plus-one
"""As in a course on neural networks: one small step after another, and back again."""

import torch


def upcast(t):
    return t.float() if t.dtype in (torch.half, torch.bfloat16) else t


def layer_norm_forward(inp, scale, shift, epsilon=1e-5):
    assert scale.shape == shift.shape == inp.shape[-1:]
    x = upcast(inp)
    mu = x.mean(-1, keepdim=True)
    std = (((x - mu) ** 2).mean(-1, keepdim=True) + epsilon).sqrt()
    return ((x - mu) / std * upcast(scale) + upcast(shift)).type_as(inp)


def rmsnorm(inp, scale, epsilon=1e-6):
    assert scale.shape == inp.shape[-1:]
    x = upcast(inp)
    out = x * (x.pow(2).mean(-1, keepdim=True) + epsilon).pow(-0.5)
    return (out * (1.0 + upcast(scale))).type_as(inp)


def layernorm_backward(dout, inp, scale, epsilon=1e-5):
    assert dout.shape == inp.shape and scale.shape == inp.shape[-1:]
    g, x, w = upcast(dout), upcast(inp), upcast(scale)
    E = x.shape[-1]
    rows = x.reshape(-1, E)
    g = g.reshape(-1, E)
    mu = rows.mean(1, keepdim=True)
    xmu = rows - mu
    var = (xmu**2).mean(1, keepdim=True)
    sqrtvar = torch.sqrt(var + epsilon)
    ivar = 1.0 / sqrtvar
    dgamma = (g * xmu * ivar).sum(0)
    dbeta = g.sum(0)
    dxhat = g * w
    divar = (dxhat * xmu).sum(1, keepdim=True)
    dsqrtvar = -divar / sqrtvar**2
    dvar = 0.5 * dsqrtvar / sqrtvar
    dxmu = dxhat * ivar + 2 * xmu * dvar / E
    dmu = -dxmu.sum(1, keepdim=True)
    dx = dxmu + dmu / E
    return dx.reshape(inp.shape).type_as(inp), dgamma.type_as(inp), dbeta.type_as(inp)


def rmsnorm_backward(dout, inp, scale, epsilon=1e-6):
    assert dout.shape == inp.shape and scale.shape == inp.shape[-1:]
    g, x, w = upcast(dout), upcast(inp), 1.0 + upcast(scale)
    rms = (x.pow(2).mean(-1, keepdim=True) + epsilon).sqrt()
    dscale = (g * x / rms).flatten(0, -2).sum(0) if x.dim() > 1 else g * x / rms
    drms = -(g * w * x).sum(-1, keepdim=True) / rms**2
    dx = g * w / rms + drms * x / (rms * x.shape[-1])
    return dx.type_as(inp), dscale.type_as(inp)
