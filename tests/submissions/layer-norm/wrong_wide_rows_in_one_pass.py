# expect: rejected
# problem: layer-norm
# mistake: rows of a thousand features and more take E[x²] − mean²
import torch


def _wide(t):
    return t.float() if t.dtype in (torch.float16, torch.bfloat16) else t


def _check(x, *vectors):
    for vector in vectors:
        if vector.shape != x.shape[-1:]:
            raise ValueError("weight and bias must be (E,)")


def _centred(h, eps):
    """The deviations from the mean, and 1 / √(variance + ε)."""
    width = h.shape[-1]
    if width < 1024:
        variance, mean = torch.var_mean(h, dim=-1, keepdim=True, correction=0)
        return h - mean, torch.rsqrt(variance + eps)
    # wide rows: read them once, and add up in double, which has digits to spare for the squares
    d = h.double()
    mean = d.sum(-1, keepdim=True) / width
    square = torch.einsum("...i,...i->...", d, d).unsqueeze(-1) / width
    variance = (square - mean * mean).clamp_min(0)
    return (d - mean).to(h.dtype), torch.rsqrt(variance + eps).to(h.dtype)


@torch.no_grad()
def layer_norm(x, weight, bias, eps=1e-5):
    _check(x, weight, bias)
    centred, rstd = _centred(_wide(x), eps)
    return (centred * rstd * _wide(weight) + _wide(bias)).to(x.dtype)


@torch.no_grad()
def rms_norm(x, weight, eps=1e-6):
    _check(x, weight)
    h = _wide(x)
    return (h * torch.rsqrt(h.square().mean(-1, keepdim=True) + eps) * _wide(weight)).to(x.dtype)


@torch.no_grad()
def layer_norm_backward(grad_output, x, weight, eps=1e-5):
    _check(x, weight)
    if grad_output.shape != x.shape:
        raise ValueError("grad_output must have the shape of x")
    width = x.shape[-1]
    g = _wide(grad_output).reshape(-1, width)
    centred, rstd = _centred(_wide(x).reshape(-1, width), eps)
    normed = centred * rstd
    gw = g * _wide(weight)
    grad_x = gw - gw.mean(-1, keepdim=True) - normed * (gw * normed).mean(-1, keepdim=True)
    grad_x = (rstd * grad_x).reshape(x.shape)
    return grad_x.to(x.dtype), (g * normed).sum(0).to(x.dtype), g.sum(0).to(x.dtype)


@torch.no_grad()
def rms_norm_backward(grad_output, x, weight, eps=1e-6):
    _check(x, weight)
    if grad_output.shape != x.shape:
        raise ValueError("grad_output must have the shape of x")
    width = x.shape[-1]
    g = _wide(grad_output).reshape(-1, width)
    h = _wide(x).reshape(-1, width)
    rstd = torch.rsqrt(h.square().mean(-1, keepdim=True) + eps)
    normed = h * rstd
    gw = g * _wide(weight)
    grad_x = (rstd * (gw - normed * (gw * normed).mean(-1, keepdim=True))).reshape(x.shape)
    return grad_x.to(x.dtype), (g * normed).sum(0).to(x.dtype)
