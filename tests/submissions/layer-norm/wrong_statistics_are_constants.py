# expect: rejected
# problem: layer-norm
# mistake: the Jacobian of a row is diagonal, as if its mean and root were constants
# diagnosis: rms-taken-for-constant, statistics-taken-for-constants
"""Row by row, with the diagonal of its Jacobian."""

import torch


def _rows(t, wide):
    return t.to(wide).reshape(-1, t.shape[-1])


def _wide(x):
    return torch.float64 if x.dtype == torch.float64 else torch.float32


def _check(x, *params, like=None):
    if any(tuple(p.shape) != (x.shape[-1],) for p in params):
        raise ValueError("parameters are (E,)")
    if like is not None and like.shape != x.shape:
        raise ValueError("grad_output has the shape of x")


def _unit(row, eps, centre):
    moved = row - row.mean() if centre else row
    root = (moved @ moved / len(row) + eps).sqrt()
    return moved / root, root


def _jacobian(row, eps, centre):
    _, root = _unit(row, eps, centre)
    eye = torch.eye(len(row), dtype=row.dtype)
    return eye / root


def _forward(x, weight, bias, eps, centre):
    wide = _wide(x)
    rows = [_unit(row, eps, centre)[0] * weight.to(wide) for row in _rows(x, wide)]
    out = torch.stack(rows)
    return (out if bias is None else out + bias.to(wide)).view(x.shape).to(x.dtype)


def _backward(grad_output, x, weight, eps, centre):
    wide = _wide(x)
    grad_x = []
    grad_weight = torch.zeros(x.shape[-1], dtype=wide)
    grad_bias = torch.zeros(x.shape[-1], dtype=wide)
    for row, g in zip(_rows(x, wide), _rows(grad_output, wide)):
        grad_x.append(_jacobian(row, eps, centre) @ (g * weight.to(wide)))
        grad_weight += g * _unit(row, eps, centre)[0]
        grad_bias += g
    grads = torch.stack(grad_x).view(x.shape), grad_weight, grad_bias
    return tuple(one.to(x.dtype) for one in grads)


def layer_norm(x, weight, bias, eps=1e-5):
    _check(x, weight, bias)
    return _forward(x, weight, bias, eps, True)


def rms_norm(x, weight, eps=1e-6):
    _check(x, weight)
    return _forward(x, weight, None, eps, False)


def layer_norm_backward(grad_output, x, weight, eps=1e-5):
    _check(x, weight, like=grad_output)
    return _backward(grad_output, x, weight, eps, True)


def rms_norm_backward(grad_output, x, weight, eps=1e-6):
    _check(x, weight, like=grad_output)
    return _backward(grad_output, x, weight, eps, False)[:2]
