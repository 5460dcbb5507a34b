# expect: rejected
# problem: layer-norm
# mistake: sums over many rows are added up block by block in bfloat16
import torch

ROWS = 512  # rows in float32 at once


def _wide(t):
    return t.to(torch.float64 if t.dtype == torch.float64 else torch.float32)


def _check(x, *vectors):
    for t in vectors:
        if t.shape != x.shape[-1:]:
            raise ValueError("weight and bias must be (E,)")


def _centred(x):
    d = x - x.mean(-1, keepdim=True)
    return d - d.mean(-1, keepdim=True)


def layer_norm(x, weight, bias, eps=1e-5):
    _check(x, weight, bias)
    with torch.no_grad():
        d = _centred(_wide(x))
        y = d * torch.rsqrt(d.square().mean(-1, keepdim=True) + eps)
        return (y * _wide(weight) + _wide(bias)).to(x.dtype)


def rms_norm(x, weight, eps=1e-6):
    _check(x, weight)
    with torch.no_grad():
        w = _wide(x)
        return (w * torch.rsqrt(w.square().mean(-1, keepdim=True) + eps) * _wide(weight)).to(x.dtype)


def _backward(grad_output, x, weight, eps, centre):
    _check(x, weight)
    if grad_output.shape != x.shape:
        raise ValueError("grad_output must have the shape of x")
    with torch.no_grad():
        E = x.shape[-1]
        rows, upstream, w = x.reshape(-1, E), grad_output.reshape(-1, E), _wide(weight)
        grad_x = torch.empty(rows.shape, dtype=x.dtype, device=x.device)
        grad_weight, grad_bias = torch.zeros(2, E, dtype=x.dtype, device=x.device)
        for start in range(0, len(rows), ROWS):
            block = slice(start, start + ROWS)
            d, g = _wide(rows[block]), _wide(upstream[block])
            if centre:
                d = _centred(d)
            root = torch.rsqrt(d.square().mean(-1, keepdim=True) + eps)
            y, gw = d * root, g * w
            inner = gw - y * (gw * y).mean(-1, keepdim=True)
            if centre:
                inner = inner - gw.mean(-1, keepdim=True)
            grad_x[block] = (root * inner).to(x.dtype)
            grad_weight += (g * y).sum(0)
            grad_bias += g.sum(0)
        return grad_x.view(x.shape), grad_weight, grad_bias


def layer_norm_backward(grad_output, x, weight, eps=1e-5):
    return _backward(grad_output, x, weight, eps, True)


def rms_norm_backward(grad_output, x, weight, eps=1e-6):
    return _backward(grad_output, x, weight, eps, False)[:2]
