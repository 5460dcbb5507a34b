# expect: rejected
# problem: layer-norm
# mistake: every dtype is computed in float32 and cast back, so that float64 loses half its digits
# diagnosis: float64-narrowed
import torch


def layer_norm(x, weight, bias, eps=1e-5):
    _check(x, weight)
    _check(x, bias)
    var, mean = torch.var_mean(x.float(), dim=-1, correction=0, keepdim=True)
    y = (x.float() - mean) / (var + eps).sqrt()
    return (y * weight.float() + bias.float()).type_as(x)


def rms_norm(x, weight, eps=1e-6):
    _check(x, weight)
    y = x.float()
    y = y / (y.pow(2).mean(-1, keepdim=True) + eps).sqrt()
    return (y * weight.float()).type_as(x)


def layer_norm_backward(grad_output, x, weight, eps=1e-5):
    _check(x, weight)
    _same(grad_output, x)
    g, h, w = grad_output.float(), x.float(), weight.float()
    mean = h.mean(-1, keepdim=True)
    sigma = ((h - mean).pow(2).mean(-1, keepdim=True) + eps).sqrt()
    y = (h - mean) / sigma
    gw = g * w
    dx = (gw - gw.mean(-1, keepdim=True) - y * (gw * y).mean(-1, keepdim=True)) / sigma
    return dx.type_as(x), _rows(g * y).type_as(x), _rows(g).type_as(x)


def rms_norm_backward(grad_output, x, weight, eps=1e-6):
    _check(x, weight)
    _same(grad_output, x)
    g, h, w = grad_output.float(), x.float(), weight.float()
    sigma = (h.pow(2).mean(-1, keepdim=True) + eps).sqrt()
    y = h / sigma
    gw = g * w
    dx = (gw - y * (gw * y).mean(-1, keepdim=True)) / sigma
    return dx.type_as(x), _rows(g * y).type_as(x)


def _rows(t):
    return t.reshape(-1, t.shape[-1]).sum(0)


def _check(x, weight):
    if tuple(weight.shape) != (x.shape[-1],):
        raise ValueError("parameters of the wrong size")


def _same(g, x):
    if g.shape != x.shape:
        raise ValueError("grad_output of the wrong shape")
